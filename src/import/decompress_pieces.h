// gzip and zstd piece by piece: all members or frames of the input, one after the other, in memory that does not
// depend on how long they are.
//
// Thread rule: one thread at a time; consumed() any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "import/decompress.h"
#include "import/text_source.h"

namespace opscope {

struct TextPiece {
  std::unique_ptr<std::byte, Decompressed::Free> data;
  size_t size = 0;
};

class PieceReader {
 public:
  static std::unique_ptr<PieceReader> Create(std::span<const std::byte> bytes, CompressedFormat format);
  virtual ~PieceReader() = default;

  // False: there is no more. A piece that is given is not empty.
  virtual bool Next(TextPiece* piece) = 0;
  TextEnd end() const { return end_; }  // after the last piece
  uint64_t consumed() const { return consumed_.load(std::memory_order_relaxed); }

 protected:
  TextEnd end_;
  std::atomic<uint64_t> consumed_{0};
};

}  // namespace opscope

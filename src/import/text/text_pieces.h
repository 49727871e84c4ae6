// A text that arrives in pieces: decompressed (decompress.h), or from a file (file_pieces.h).
//
// Thread rule: one thread at a time; consumed() and memory_bytes() any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/allocation_failure.h"
#include "import/text/text_source.h"

namespace opscope {

// Memory from malloc, so that realloc can move pages instead of copying bytes.
struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using MallocBytes = std::unique_ptr<std::byte, FreeBytes>;

struct TextPiece {
  MallocBytes data;
  size_t size = 0;
};

inline constexpr size_t kPieceBytes = size_t{1} << 20;  // of most pieces

// Throws AllocationFailure.
inline TextPiece NewPiece(size_t capacity) {
  TextPiece piece;
  piece.data.reset(static_cast<std::byte*>(std::malloc(capacity)));
  if (!piece.data) throw AllocationFailure(capacity);
  return piece;
}

class PieceReader {
 public:
  virtual ~PieceReader() = default;

  // False: the text has ended. A returned piece is not empty.
  virtual bool Next(TextPiece* piece) = 0;
  // True: making pieces ahead saves no time; call ReadInto instead of Next.
  virtual bool reads_into() const { return false; }
  // Fills `into`; returns less only at the end of the text.
  virtual size_t ReadInto(std::span<std::byte>) { return 0; }
  TextEnd end() const { return end_; }  // valid after the last piece
  uint64_t consumed() const { return consumed_.load(std::memory_order_relaxed); }
  uint64_t memory_bytes() const { return held_.load(std::memory_order_relaxed); }  // of the reader's buffers

 protected:
  TextEnd end_;
  std::atomic<uint64_t> consumed_{0};
  std::atomic<uint64_t> held_{0};
};

}  // namespace opscope

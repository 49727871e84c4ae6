// The text inside gzip or zstd as a TextSource: pieces are decompressed ahead of the reader by whoever has time
// (WorkAhead), a few of them and no more.
//
// Thread rule: as TextSource.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>

#include "import/decompress.h"
#include "import/decompress_pieces.h"
#include "import/text_source.h"

namespace opscope {

class CompressedText : public TextSource {
 public:
  // is_file_mapping: as of PlainText.
  CompressedText(std::span<const std::byte> bytes, CompressedFormat format, bool is_file_mapping = false);

  void Extend(size_t size) override;
  TextBlock Take(size_t size) override;
  void GiveBack(const TextBlock& rest) override;
  void Release(uint64_t before) override;
  bool WorkAhead() override;
  uint64_t memory_bytes() const override;
  uint64_t bytes_read() const override { return pieces_->consumed(); }
  uint64_t total_bytes() const override { return bytes_.size(); }
  TextEnd end() const override { return ended_ ? pieces_->end() : TextEnd{}; }

 private:
  struct Buffer;
  bool NextPiece(TextPiece* piece);
  void Produce(std::unique_lock<std::mutex>* lock);
  void Append(const TextPiece& piece, size_t wanted);

  const std::span<const std::byte> bytes_;
  PagesBehind behind_;
  std::unique_ptr<PieceReader> pieces_;  // used by whoever has set is_busy_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TextPiece> ahead_;
  uint64_t ahead_bytes_ = 0;
  bool is_busy_ = false;            // somebody decompresses
  bool is_drained_ = false;         // there are no more pieces
  std::shared_ptr<Buffer> buffer_;  // text_ lies at its end
};

}  // namespace opscope

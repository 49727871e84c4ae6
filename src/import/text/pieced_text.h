// Makes a TextSource of a text that arrives in pieces, decompressed or from a file. Idle threads produce up to 4 MB of
// pieces ahead of the reader (WorkAhead). A regular file is read directly into the window.
//
// Thread rule: as TextSource.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/mutex.h"
#include "import/text/text_pieces.h"
#include "import/text/text_source.h"

namespace opscope {

class PiecedText : public TextSource {
 public:
  // total_bytes: see TextSource
  PiecedText(std::unique_ptr<PieceReader> pieces, uint64_t total_bytes);

  void Extend(size_t size) override;
  TextBlock Take(size_t size) override;
  void GiveBack(const TextBlock& rest) override;
  bool WorkAhead() override;
  uint64_t memory_bytes() const override;
  uint64_t bytes_read() const override { return pieces_->consumed(); }
  uint64_t total_bytes() const override { return total_bytes_; }
  TextEnd end() const override { return ended_ ? pieces_->end() : TextEnd{}; }

 private:
  struct Buffer;
  bool NextPiece(TextPiece* piece);
  void Produce() OPSCOPE_REQUIRES(mutex_);
  void Append(const TextPiece& piece, size_t wanted);
  void AppendRead(size_t wanted);
  std::byte* RoomFor(size_t size, size_t wanted);
  void ExtendWindow(size_t size);
  void MakeRoom(size_t capacity);

  const uint64_t total_bytes_;
  const std::unique_ptr<PieceReader> pieces_;  // used by the thread that has set is_busy_
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::deque<TextPiece> ahead_ OPSCOPE_GUARDED_BY(mutex_);
  uint64_t ahead_bytes_ OPSCOPE_GUARDED_BY(mutex_) = 0;
  bool is_busy_ OPSCOPE_GUARDED_BY(mutex_) = false;     // a thread produces a piece
  bool is_drained_ OPSCOPE_GUARDED_BY(mutex_) = false;  // there are no more pieces
  bool has_given_ = false;                              // blocks may refer to buffer_
  std::shared_ptr<Buffer> buffer_;                      // text_ is at the end of its data
};

}  // namespace opscope

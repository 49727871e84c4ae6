// A text that comes in a few bytes at a time, so that whatever an importer keeps of it moves while it reads: what it
// does not own would be seen as gone by the address sanitizer.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "import/text/pieced_text.h"

namespace opscope {

class TinyPieces : public PieceReader {
 public:
  explicit TinyPieces(std::string_view text) : text_(text) {}

  bool Next(TextPiece* piece) override {
    constexpr size_t kMaxSize = 37;
    const size_t size = std::min(text_.size(), 1 + (text_.size() * 7919) % kMaxSize);
    *piece = NewPiece(size + 1);
    if (size != 0) std::memcpy(piece->data.get(), text_.data(), size);
    piece->size = size;
    text_.remove_prefix(size);
    return size != 0;
  }

 private:
  std::string_view text_;
};

class TinyText : public PiecedText {
 public:
  explicit TinyText(std::string_view text) : PiecedText(std::make_unique<TinyPieces>(text), text.size()) {}
  size_t window_bytes() const override { return 16; }
};

}  // namespace opscope

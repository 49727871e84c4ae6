// Text in UTF-16 (PowerShell writes what a program prints so, behind a byte-order mark) as pieces of UTF-8, the mark
// left out, and the offsets of that UTF-8 in the UTF-16.
//
// Without a mark JSON is known by its first characters, which are ASCII: of two bytes one is zero, as RFC 4627, section
// 3, has it.
//
// Thread rule: pure functions; a reader as PieceReader; Utf16Offsets one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "import/text/text_pieces.h"
#include "import/text/text_source.h"

namespace opscope {

enum class Utf16Order : uint8_t { kNone, kLittleEndian, kBigEndian };

// By the mark, or by the first characters of JSON. `head`: the first bytes of the text.
[[nodiscard]] Utf16Order DetectUtf16(std::span<const std::byte> head);
// Of a text that begins with two characters of ASCII which are no control characters; it may be no text at all.
[[nodiscard]] Utf16Order GuessUtf16(std::span<const std::byte> head);

// Where bytes of the UTF-8 stood in the UTF-16. A stretch of ASCII is kept as its two offsets; of any other the lengths
// of its characters are kept, two bits each.
class Utf16Offsets {
 public:
  void AddMark() { utf16_ += 2; }
  // A character as it comes: its bytes in UTF-8. Those of four are two units of UTF-16, all others one.
  void Add(size_t utf8_bytes) {
    if (utf8_bytes != 1 || !is_ascii_) AddOther(utf8_bytes);
    utf8_ += utf8_bytes;
    utf16_ += utf8_bytes == 4 ? 4 : 2;
  }
  // Of the character to which the byte belongs; behind the last one, the end.
  uint64_t Utf16Of(uint64_t utf8_offset) const;
  uint64_t memory_bytes() const { return stretches_.capacity() * sizeof(Stretch) + kept_bytes_; }

 private:
  struct Stretch {
    uint64_t utf8 = 0, utf16 = 0;  // offsets of its first character
    std::string lengths;           // empty: all ASCII
  };
  static constexpr size_t kMaxCharacters = 4096;  // in a stretch that is not ASCII
  void AddOther(size_t utf8_bytes);

  std::vector<Stretch> stretches_;
  uint64_t utf8_ = 0, utf16_ = 0;  // so far
  size_t characters_ = 0;          // of the last stretch, when it is not ASCII
  bool is_ascii_ = false;          // the last stretch
  uint64_t kept_bytes_ = 0;
};

// A surrogate without its other half becomes what its escape in JSON stands for (AppendCodePoint). At a last byte
// without its other half the text ends as cut. REQUIRES: not kNone; nothing was taken of `text`, which lives longer, as
// `offsets` does.
[[nodiscard]] std::unique_ptr<PieceReader> ReadUtf16(TextSource* text, Utf16Order order, Utf16Offsets* offsets);

}  // namespace opscope

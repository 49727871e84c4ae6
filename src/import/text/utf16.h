// Converts UTF-16 text to pieces of UTF-8 without the byte-order mark, and maps offsets in the UTF-8 to offsets in the
// UTF-16. (PowerShell redirects the output of a program to files in UTF-16 with a mark.)
//
// Without a mark JSON is recognised by its first two characters, which are ASCII, so that one of the two bytes of each
// is zero (RFC 4627, section 3).
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
// For a text that begins with two printable ASCII characters; such bytes may also be no text at all.
[[nodiscard]] Utf16Order GuessUtf16(std::span<const std::byte> head);

// Maps offsets in the UTF-8 to offsets in the UTF-16. A run of ASCII is stored as its two offsets; for any other run
// the lengths of its characters are stored in addition, two bits each.
class Utf16Offsets {
 public:
  void AddMark() { utf16_ += 2; }
  // Adds the next character by its number of UTF-8 bytes. Characters of four bytes are two units of UTF-16, all others
  // one.
  void Add(size_t utf8_bytes) {
    if (utf8_bytes != 1 || !is_ascii_) AddOther(utf8_bytes);
    utf8_ += utf8_bytes;
    utf16_ += utf8_bytes == 4 ? 4 : 2;
  }
  // The UTF-16 offset of the character that contains the byte; behind the last character, the end.
  uint64_t Utf16Of(uint64_t utf8_offset) const;
  uint64_t memory_bytes() const { return stretches_.capacity() * sizeof(Stretch) + kept_bytes_; }

 private:
  struct Stretch {
    uint64_t utf8 = 0, utf16 = 0;  // offsets of its first character
    std::string lengths;           // empty: all ASCII
  };
  static constexpr size_t kMaxCharacters = 4096;  // per run that is not ASCII
  void AddOther(size_t utf8_bytes);

  std::vector<Stretch> stretches_;
  uint64_t utf8_ = 0, utf16_ = 0;  // current ends
  size_t characters_ = 0;          // of the last run, if it is not ASCII
  bool is_ascii_ = false;          // of the last run
  uint64_t kept_bytes_ = 0;
};

// A surrogate without its other half becomes the bytes that AppendCodePoint gives for it. After an odd last byte the
// text ends as truncated. REQUIRES: not kNone; nothing was taken of `text`; `text` and `offsets` outlive the reader.
[[nodiscard]] std::unique_ptr<PieceReader> ReadUtf16(TextSource* text, Utf16Order order, Utf16Offsets* offsets);

}  // namespace opscope

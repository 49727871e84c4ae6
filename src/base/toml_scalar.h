// The characters of TOML: blanks, comments, keys, texts, numbers, dates.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/toml.h"

namespace opscope {

class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text);

  // The first error; "": none. After an error all functions may be called, but their results mean nothing.
  const std::string& error() const { return error_; }
  void Fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }
  // The line of the next byte, from 1. O(bytes).
  size_t line() const;

  bool is_end() const { return at_ >= text_.size(); }
  bool Peek(char byte) const { return !is_end() && text_[at_] == byte; }
  bool Take(char byte) {
    if (!Peek(byte)) return false;
    ++at_;
    return true;
  }
  void SkipBlanks() {
    while (Peek(' ') || Peek('\t'))
      ++at_;
  }
  // A comment or a line end comes next. REQUIRES: not the end.
  bool IsLineEnd() const { return Peek('#') || Peek('\n') || Peek('\r'); }
  // Blanks, a comment, and the end of the line or of the text; false: something else.
  bool TakeLineEnd();
  // A bare or quoted part of a key.
  std::string TakeKeyPart();
  // A text, a number, a date, true or false.
  TomlValue TakeScalar();

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool TakeAll(std::string_view bytes);
  std::string TakeText(char quote, bool may_be_long);
  void TakeEscape(bool is_long, std::string* text);
  void TakeUnicode(size_t digits, std::string* text);
  TomlValue TakeNumber(std::string_view token);
  bool TakeDate();

  std::string_view text_;
  size_t at_ = 0;
  std::string error_;
};

}  // namespace opscope

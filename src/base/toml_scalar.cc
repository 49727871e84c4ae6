// Texts of TOML have four forms: basic and literal, each on one line or on several. Numbers may have underscores
// between digits, but no leading zeros: 1_000 is one, 01 and 1__0 are errors. So a number is checked digit by digit,
// and the value is taken from the text without underscores.
// SPDX-License-Identifier: Apache-2.0
#include "base/toml_scalar.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/parse_double.h"
#include "base/text.h"

namespace opscope {
namespace {

using Kind = TomlValue::Kind;

bool IsTomlDigit(char byte, int base = 10) {
  if (base == 16 && ((byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F'))) return true;
  return byte >= '0' && byte < '0' + (base < 10 ? base : 10);
}

bool IsBareKeyByte(char byte) {
  return IsTomlDigit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
         byte == '-';
}

// Control characters other than the tab.
bool IsForbidden(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  return (code < 0x20 && byte != '\t') || code == 0x7f;
}

// Digits with underscores between them, at `*at` of `token`; they are appended without underscores. False: there are
// none, or an underscore is at an end.
bool TakeDigits(std::string_view token, int base, size_t* at, std::string* digits) {
  const size_t begin = digits->size();
  while (*at < token.size() && (IsTomlDigit(token[*at], base) || token[*at] == '_')) {
    const bool is_between = *at > 0 && IsTomlDigit(token[*at - 1], base) && digits->size() > begin &&
                            *at + 1 < token.size() && IsTomlDigit(token[*at + 1], base);
    if (token[*at] != '_') {
      *digits += token[*at];
    } else if (!is_between) {
      return false;
    }
    ++*at;
  }
  return digits->size() > begin;
}

std::optional<int64_t> TomlInteger(const std::string& digits, int base) {
  int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || read != end) return std::nullopt;
  return value;
}

// So many digits as a number; -1: there are fewer.
int TomlDatePart(std::string_view text, size_t at, size_t digits) {
  if (text.size() < at + digits) return -1;
  int value = 0;
  for (size_t i = at; i < at + digits; ++i) {
    if (!IsTomlDigit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool IsTomlDay(int year, int month, int day) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (month < 1 || month > 12 || day < 1) return false;
  const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= kDays[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

}  // namespace

TomlScanner::TomlScanner(std::string_view text) : text_(text) {
  if (TakeAll("\xef\xbb\xbf")) text_ = rest(), at_ = 0;  // a byte order mark
  if (!IsUtf8(text_)) Fail("the text is not UTF-8");
}

size_t TomlScanner::line() const {
  size_t line = 1;
  for (const char byte : text_.substr(0, at_))
    line += byte == '\n' ? 1 : 0;
  return line;
}

bool TomlScanner::TakeAll(std::string_view bytes) {
  if (!rest().starts_with(bytes)) return false;
  at_ += bytes.size();
  return true;
}

bool TomlScanner::TakeLineEnd() {
  SkipBlanks();
  if (Take('#')) {
    while (!is_end() && !Peek('\n') && !rest().starts_with("\r\n")) {
      if (IsForbidden(text_[at_])) Fail("a comment has a control character");
      ++at_;
    }
  }
  return is_end() || Take('\n') || TakeAll("\r\n");
}

std::string TomlScanner::TakeKeyPart() {
  if (Peek('"') || Peek('\'')) return TakeText(text_[at_], false);
  const size_t begin = at_;
  while (!is_end() && IsBareKeyByte(text_[at_]))
    ++at_;
  if (at_ == begin) Fail("a key is missing");
  return std::string(text_.substr(begin, at_ - begin));
}

std::string TomlScanner::TakeText(char quote, bool may_be_long) {
  const std::string three(3, quote);
  const bool is_long = may_be_long && TakeAll(three);
  if (is_long) {
    if (!TakeAll("\r\n")) Take('\n');  // a line end right behind the quotes does not count
  } else {
    Take(quote);
  }
  std::string text;
  while (!is_end() && error_.empty()) {
    if (!is_long && Take(quote)) return text;
    if (is_long && TakeAll(three)) {
      for (int more = 0; more < 2 && Take(quote); ++more)  // up to two quotes may stand before the last three
        text += quote;
      return text;
    }
    const char byte = text_[at_];
    if (quote == '"' && Take('\\')) {
      TakeEscape(is_long, &text);
    } else if (is_long && TakeAll("\r\n")) {
      text += '\n';
    } else if (IsForbidden(byte) && !(is_long && byte == '\n')) {
      break;
    } else {
      text += byte;
      ++at_;
    }
  }
  Fail("a text does not end, or has a control character");
  return text;
}

// The backslash was taken.
void TomlScanner::TakeEscape(bool is_long, std::string* text) {
  constexpr std::string_view kEscapes = "btnfr\"\\", kMeanings = "\b\t\n\f\r\"\\";
  if (is_end()) return;
  const size_t known = kEscapes.find(text_[at_]);
  if (known != kEscapes.npos) {
    *text += kMeanings[known];
    ++at_;
  } else if (Take('u')) {
    TakeUnicode(4, text);
  } else if (Take('U')) {
    TakeUnicode(8, text);
  } else {  // in a text of several lines a backslash at the end of a line removes blanks and line ends
    SkipBlanks();
    if (!is_long || !(Take('\n') || TakeAll("\r\n"))) return Fail("a text has an unknown escape");
    while (Peek(' ') || Peek('\t') || Peek('\n') || rest().starts_with("\r\n"))
      ++at_;
  }
}

void TomlScanner::TakeUnicode(size_t digits, std::string* text) {
  uint32_t code = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (is_end() || !IsTomlDigit(text_[at_], 16)) return Fail("a text has an escape that is not a character");
    code = code << 4 | static_cast<uint32_t>(HexDigit(text_[at_++]));
  }
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return Fail("a text has an escape that is not a character");
  AppendCodePoint(text, code);
}

TomlValue TomlScanner::TakeScalar() {
  if (Peek('"') || Peek('\'')) return {.kind = Kind::kString, .text = TakeText(text_[at_], true)};
  const size_t begin = at_;
  if (TakeDate()) return {.kind = Kind::kDate, .text = std::string(text_.substr(begin, at_ - begin))};
  at_ = begin;
  while (!is_end() && (IsBareKeyByte(text_[at_]) || Peek('+') || Peek('.')))
    ++at_;
  const std::string_view token = text_.substr(begin, at_ - begin);
  if (token == "true" || token == "false") return {.kind = Kind::kBool, .integer = token == "true" ? 1 : 0};
  return TakeNumber(token);
}

TomlValue TomlScanner::TakeNumber(std::string_view token) {
  const auto wrong = [&] {
    Fail(token.empty() ? "a value is missing" : "'" + std::string(token) + "' is not a value");
    return TomlValue();
  };
  const bool is_negative = token.starts_with('-'), has_sign = is_negative || token.starts_with('+');
  size_t at = has_sign ? 1 : 0;
  const std::string_view number = token.substr(at);
  if (number == "inf" || number == "nan") {
    const double value = number == "inf" ? std::numeric_limits<double>::infinity() : std::nan("");
    return {.kind = Kind::kReal, .real = is_negative ? -value : value};
  }
  for (const auto& [prefix, base] : {std::pair("0x", 16), std::pair("0o", 8), std::pair("0b", 2)}) {
    if (has_sign || !token.starts_with(prefix)) continue;
    std::string digits;
    at = 2;
    if (!TakeDigits(token, base, &at, &digits) || at != token.size()) return wrong();
    const std::optional<int64_t> value = TomlInteger(digits, base);
    return value ? TomlValue{.kind = Kind::kInteger, .integer = *value} : wrong();
  }
  std::string digits = is_negative ? "-" : "";
  const size_t first = digits.size();
  if (!TakeDigits(token, 10, &at, &digits)) return wrong();
  if (digits[first] == '0' && digits.size() > first + 1) return wrong();
  if (at == token.size()) {
    const std::optional<int64_t> value = TomlInteger(digits, 10);
    return value ? TomlValue{.kind = Kind::kInteger, .integer = *value} : wrong();
  }
  if (token[at] == '.') {
    digits += token[at++];
    if (!TakeDigits(token, 10, &at, &digits)) return wrong();
  }
  if (at < token.size() && (token[at] | 0x20) == 'e') {
    digits += token[at++];
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) digits += token[at++];
    if (!TakeDigits(token, 10, &at, &digits)) return wrong();
  }
  if (at != token.size()) return wrong();
  return {.kind = Kind::kReal, .real = ParseDouble(digits).value_or(0)};
}

// 1979-05-27, 07:32:00.5, or both with T or a blank between them and perhaps Z or +01:00 behind them. False: no date.
bool TomlScanner::TakeDate() {
  const std::string_view text = rest();
  const int year = TomlDatePart(text, 0, 4);
  size_t at = 0;
  const bool has_day = year >= 0 && text.size() >= 10 && text[4] == '-' && text[7] == '-';
  if (has_day) {
    if (!IsTomlDay(year, TomlDatePart(text, 5, 2), TomlDatePart(text, 8, 2))) return false;
    at = 10;
    const bool has_time = at < text.size() && (text[at] == 'T' || text[at] == 't' ||
                                               (text[at] == ' ' && TomlDatePart(text, at + 1, 2) >= 0));
    if (!has_time) return at_ += at, true;
    ++at;
  }
  const auto is_time = [&](size_t begin, bool has_seconds) {
    const int hour = TomlDatePart(text, begin, 2), minute = TomlDatePart(text, begin + 3, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || text[begin + 2] != ':') return false;
    if (!has_seconds) return true;
    const int second = TomlDatePart(text, begin + 6, 2);
    return second >= 0 && second <= 60 && text[begin + 5] == ':';
  };
  if (!is_time(at, true)) return false;
  at += 8;
  if (at < text.size() && text[at] == '.') {
    const size_t digits = ++at;
    while (at < text.size() && IsTomlDigit(text[at]))
      ++at;
    if (at == digits) return false;
  }
  if (has_day && at < text.size() && (text[at] == 'Z' || text[at] == 'z')) {
    ++at;
  } else if (has_day && at < text.size() && (text[at] == '+' || text[at] == '-')) {
    if (!is_time(at + 1, false)) return false;
    at += 6;
  }
  at_ += at;
  return true;
}

}  // namespace opscope

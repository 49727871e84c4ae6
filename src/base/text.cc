// Appends numbers and JSON strings. std::to_chars instead of printf: it ignores the locale (a German one
// would write "0,1"), and prints doubles in the fewest digits that read back exactly. JSON strings copy
// runs of plain ASCII as blocks and look at single characters only where one needs an escape. A byte that
// is not UTF-8 becomes a lone surrogate, \udcff for 0xff, which Python's surrogateescape turns back.
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace opscope {
namespace {

template <typename T, typename... Format>
void AppendChars(std::string* out, T value, Format... format) {
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, format...).ptr;
  out->append(digits.data(), static_cast<size_t>(end - digits.data()));
}

constexpr char kHexDigits[] = "0123456789abcdef";

void AppendUnicodeEscape(std::string* out, uint32_t unit) {
  const char escape[6] = {'\\',
                          'u',
                          kHexDigits[(unit >> 12) & 15],
                          kHexDigits[(unit >> 8) & 15],
                          kHexDigits[(unit >> 4) & 15],
                          kHexDigits[unit & 15]};
  out->append(escape, sizeof(escape));
}

void AppendEscapedByte(std::string* out, unsigned char byte) {
  switch (byte) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\b':
      out->append("\\b");
      return;
    case '\f':
      out->append("\\f");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      AppendUnicodeEscape(out, byte);
      return;
  }
}

bool IsPlain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

}  // namespace

void CopyText(std::string_view text, char* to, size_t size) {
  if (size == 0) return;
  const size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

void AppendInt(std::string* out, int64_t value) {
  AppendChars(out, value);
}
void AppendUint(std::string* out, uint64_t value) {
  AppendChars(out, value);
}
void AppendHex(std::string* out, uint64_t value) {
  AppendChars(out, value, 16);
}
void AppendDouble(std::string* out, double value) {
  AppendChars(out, value);
}
void AppendFixed(std::string* out, double value, int decimals) {
  char text[400];  // the largest double has 309 digits
  out->append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr);
}

void AppendMicros(std::string* out, int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (negative) out->push_back('-');
  AppendUint(out, magnitude / 1000);
  const uint64_t rest = magnitude % 1000;
  const char decimals[4] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                            static_cast<char>('0' + rest % 10)};
  out->append(decimals, sizeof(decimals));
}

size_t Utf8SequenceLength(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points past U+10FFFF show in the second byte.
  const unsigned char second = byte(1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) || (lead == 0xf0 && second < 0x90) ||
      (lead == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

uint32_t DecodeUtf8(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead;
  uint32_t code = lead & (0x7fu >> sequence.size());
  for (const char next : sequence.substr(1))
    code = code << 6 | (static_cast<unsigned char>(next) & 0x3fu);
  return code;
}

void AppendCodePoint(std::string* out, uint32_t code) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
    return;
  }
  if (code >= 0xdc80 && code <= 0xdcff) {
    *out += static_cast<char>(code - 0xdc00);
    return;
  }
  if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      *out += static_cast<char>(0xe0 | (code >> 12));
    } else {
      *out += static_cast<char>(0xf0 | (code >> 18));
      *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    }
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  }
  *out += static_cast<char>(0x80 | (code & 0x3f));
}

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    c = LowerCase(c);
  return lower;
}

std::string_view TakeUntil(char end, std::string_view* text) {
  const std::string_view taken = text->substr(0, text->find(end));
  text->remove_prefix(std::min(taken.size() + 1, text->size()));
  return taken;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(std::string_view text, std::string* out) {
  if (IsUtf8(text)) {
    out->append(text);
    return;
  }
  while (!text.empty()) {
    const size_t valid = Utf8SequenceLength(text);
    if (valid > 0) {
      out->append(text.substr(0, valid));
      text.remove_prefix(valid);
      continue;
    }
    AppendUnicodeEscape(out, 0xdc00u + static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void AppendJsonEscaped(std::string* out, std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin;
    while (end < text.size() && IsPlain(static_cast<unsigned char>(text[end])))
      ++end;
    out->append(text.substr(begin, end - begin));
    if (end == text.size()) return;
    const auto byte = static_cast<unsigned char>(text[end]);
    if (byte < 0x80) {
      AppendEscapedByte(out, byte);
      begin = end + 1;
      continue;
    }
    const size_t length = Utf8SequenceLength(text.substr(end));
    if (length == 0) {
      AppendUnicodeEscape(out, 0xdc00u + byte);
      begin = end + 1;
    } else {
      out->append(text.substr(end, length));
      begin = end + length;
    }
  }
}

void AppendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  AppendJsonEscaped(out, text);
  out->push_back('"');
}

}  // namespace opscope

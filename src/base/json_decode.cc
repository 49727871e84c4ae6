// SPDX-License-Identifier: Apache-2.0
#include "base/json_decode.h"

#include "base/text.h"

namespace opscope {
namespace {

// The four hex digits after "\u" at `at`, or -1.
int32_t ReadCodeUnit(std::string_view text, size_t at) {
  if (text.size() - at < 4) return -1;
  int32_t unit = 0;
  for (size_t i = at; i < at + 4; ++i) {
    const int digit = HexDigit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

// Appends the character of the "\uXXXX" whose digits start at `at`; returns the bytes used after "\u".
size_t AppendUnicodeEscape(std::string* out, std::string_view text, size_t at) {
  const int32_t unit = ReadCodeUnit(text, at);
  if (unit < 0) {
    out->append("\\u");
    return 0;
  }
  if (unit >= 0xd800 && unit <= 0xdbff && text.substr(at + 4, 2) == "\\u") {
    const int32_t low = ReadCodeUnit(text, at + 6);
    if (low >= 0xdc00 && low <= 0xdfff) {
      AppendCodePoint(out, static_cast<uint32_t>(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)));
      return 10;
    }
  }
  AppendCodePoint(out, static_cast<uint32_t>(unit));
  return 4;
}

}  // namespace

void AppendDecoded(std::string* out, std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t slash = text.find('\\', at);
    if (slash == std::string_view::npos || slash + 1 == text.size()) {
      out->append(text.substr(at));
      return;
    }
    out->append(text.substr(at, slash - at));
    at = slash + 2;
    const char c = text[slash + 1];
    switch (c) {
      case 'b':
        *out += '\b';
        break;
      case 'f':
        *out += '\f';
        break;
      case 'n':
        *out += '\n';
        break;
      case 'r':
        *out += '\r';
        break;
      case 't':
        *out += '\t';
        break;
      case 'u':
        at += AppendUnicodeEscape(out, text, at);
        break;
      case '"':
      case '\\':
      case '/':
        *out += c;
        break;
      default:
        out->append({'\\', c});
        break;
    }
  }
}

}  // namespace opscope

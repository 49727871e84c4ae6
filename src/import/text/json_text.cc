// Strings and values of JSON turned into other text: decoded, or written again so that every reader
// accepts them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "import/text/json_scan.h"

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

namespace {

// Removes a comma before a closing bracket.
void DropStrayComma(std::string* out) {
  if (out->ends_with(", ")) out->resize(out->size() - 2);
}

// Tokens of text that the scanner has already accepted.
void AppendCleanNested(std::string* out, std::string_view text) {
  size_t at = 0;
  std::string decoded;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      size_t end = at + 1;
      while (text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      decoded.clear();
      AppendDecoded(&decoded, text.substr(at + 1, end - at - 1));
      AppendJsonString(out, decoded);
      at = end + 1;
    } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      ++at;
    } else if (c == ',' || c == ':') {
      const bool is_stray = c == ',' && out->back() == '[';
      if (!is_stray) out->append({c, ' '});
      ++at;
    } else if (c == '{' || c == '}' || c == '[' || c == ']') {
      if (c == '}' || c == ']') DropStrayComma(out);
      *out += c;
      ++at;
    } else {
      const size_t end = std::min(text.find_first_of(",:{}[] \n\r\t", at), text.size());
      const std::string_view word = text.substr(at, end - at);
      const std::string_view bare = word.starts_with('-') ? word.substr(1) : word;
      const bool finite = bare != "NaN" && bare != "Infinity" && bare != "nan" && bare != "inf";
      out->append(finite ? word : std::string_view("null"));
      at = end;
    }
  }
}

}  // namespace

void AppendCleanJson(std::string* out, const JsonValue& value) {
  if (value.is_string()) {
    if (value.plain) {
      out->append("\"").append(value.text).append("\"");
      return;
    }
    std::string decoded;
    AppendDecoded(&decoded, value.text);
    AppendJsonString(out, decoded);
  } else if (value.plain) {
    out->append(value.text);
  } else {
    AppendCleanNested(out, value.text);
  }
}

bool AppendCleanMember(std::string* members, const JsonMember& member) {
  if (member.value.kind == JsonValue::Kind::kNotFinite) return false;
  if (!members->empty()) *members += ", ";
  AppendCleanJson(members, member.key);
  *members += ": ";
  AppendCleanJson(members, member.value);
  return true;
}

}  // namespace opscope

// Writes values of JSON again so that every reader accepts them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_decode.h"
#include "base/text.h"
#include "import/text/json_scan.h"

namespace opscope {
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
    } else if (IsJsonBlank(c)) {
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

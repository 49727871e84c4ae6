// Finds one member in the members of a JSON object that was kept as text (`"a": 1, "b": [2]`): what SpanColumns::extra
// holds. The text was valid JSON when it was kept; of anything else the answer is "not there".
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace opscope {

// Where the JSON value that starts at `at` ends: the next comma, or closing bracket, outside of it.
inline size_t EndOfJsonValue(std::string_view text, size_t at) {
  int depth = 0;
  bool in_text = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (in_text) {
      if (c == '\\') ++at;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth-- == 0) return at;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return text.size();
}

// The value of `key` as it is spelt, without white space around it: "12", "\"text\"", "[0, 1]". Empty: not there.
inline std::string_view JsonMember(std::string_view members, std::string_view key) {
  constexpr std::string_view kSpace = " \t\r\n";
  size_t at = 0;
  while ((at = members.find_first_not_of(" \t\r\n,", at)) < members.size() && members[at] == '"') {
    size_t colon = at + 1;
    while (colon < members.size() && members[colon] != '"')
      colon += members[colon] == '\\' ? 2 : 1;
    if (colon >= members.size()) break;
    const std::string_view name = members.substr(at + 1, colon - at - 1);
    const size_t value = members.find_first_not_of(" \t\r\n:", colon + 1);
    if (value == std::string_view::npos) break;
    const size_t end = EndOfJsonValue(members, value);
    if (name == key) {
      const std::string_view found = members.substr(value, end - value);
      return found.substr(0, found.find_last_not_of(kSpace) + 1);
    }
    at = end;
  }
  return {};
}

}  // namespace opscope

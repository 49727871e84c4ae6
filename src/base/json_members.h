// Walks over the members of a JSON object that was kept as text (`"a": 1, "b": [2]`): what SpanColumns::extra
// holds. The text was valid JSON when one of our importers kept it; a foreign file may hold anything, and
// the walk then finds nothing. A writer that copies the text into JSON checks it first (AreJsonMembers).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "base/text.h"
#include "opscope/result.h"

namespace opscope {

// Whether the text is valid JSON, nested at most 512 deep. O(bytes), without allocation.
[[nodiscard]] bool IsJsonValue(std::string_view text);
[[nodiscard]] bool AreJsonMembers(std::string_view text);  // at least one

// For metadata that a caller gives to a recording: kInvalidArgument unless the text is empty or AreJsonMembers.
[[nodiscard]] Status CheckMetadataJson(std::string_view members);

// End of the JSON value at `at`: the next comma or closing bracket outside of it.
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

// Calls member(key, value) for each member. Both are spelt as in the text: the key without its quotes, the value
// without white space around it ("12", "\"text\"", "[0, 1]"). If `member` returns false, the walk ends.
template <typename Member>
void ForEachJsonMember(std::string_view members, const Member& member) {
  size_t at = 0;
  while ((at = members.find_first_not_of(" \t\r\n,", at)) < members.size() && members[at] == '"') {
    size_t colon = at + 1;
    while (colon < members.size() && members[colon] != '"')
      colon += members[colon] == '\\' ? 2 : 1;
    if (colon >= members.size()) break;
    const std::string_view key = members.substr(at + 1, colon - at - 1);
    const size_t value = members.find_first_not_of(" \t\r\n:", colon + 1);
    if (value == std::string_view::npos) break;
    const size_t end = EndOfJsonValue(members, value);
    const std::string_view text = members.substr(value, end - value);
    if (!member(key, text.substr(0, text.find_last_not_of(kJsonBlanks) + 1))) return;
    at = end;
  }
}

// The value of `key` as it is spelt; empty if there is no such member.
inline std::string_view FindJsonMember(std::string_view members, std::string_view key) {
  std::string_view found;
  ForEachJsonMember(members, [&](std::string_view name, std::string_view value) {
    if (name != key) return true;
    found = value;
    return false;
  });
  return found;
}

// A JSON string without its quotes, escapes not decoded; any other value unchanged.
inline std::string_view Unquoted(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace opscope

// Compiles Python regular expressions with std::regex after translating what differs (name_pattern.h). std::regex
// throws on errors; the exceptions are caught in this file.
// SPDX-License-Identifier: Apache-2.0
#include "cli/name_pattern.h"

#include <cstddef>
#include <regex>

namespace opscope {
namespace {

// std::regex recurses per character; a longer name would overflow the stack.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kMaxBytes = 512;  // the sanitizer makes stack frames larger
#else
constexpr size_t kMaxBytes = 4096;
#endif

// Copies the character class that begins at `at`; returns the position after it. In Python a bracket in first place is
// an ordinary character.
size_t AppendClass(std::string_view pattern, size_t at, std::string* out) {
  *out += pattern[at++];
  if (at < pattern.size() && pattern[at] == '^') *out += pattern[at++];
  if (at < pattern.size() && pattern[at] == ']') *out += "\\]", ++at;
  while (at < pattern.size() && pattern[at] != ']') {
    if (pattern[at] == '[') *out += '\\';
    if (pattern[at] == '\\' && at + 1 < pattern.size()) *out += pattern[at++];
    *out += pattern[at++];
  }
  if (at < pattern.size()) *out += pattern[at++];
  return at;
}

struct Translated {
  std::string pattern;
  bool ignores_case = false;
};

Translated Translate(std::string_view pattern) {
  Translated translated;
  std::string& out = translated.pattern;
  if (pattern.starts_with("(?i)")) translated.ignores_case = true, pattern.remove_prefix(4);
  for (size_t at = 0; at < pattern.size();) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("\\A")) {
      out += '^', at += 2;
    } else if (rest.starts_with("\\Z")) {
      out += '$', at += 2;
    } else if (rest.starts_with('\\') && rest.size() > 1) {
      out += rest.substr(0, 2), at += 2;
    } else if (rest.starts_with("(?P<") && rest.find('>') != std::string_view::npos) {
      out += '(', at += rest.find('>') + 1;
    } else if (rest.starts_with('[')) {
      at = AppendClass(pattern, at, &out);
    } else {
      out += rest.front(), ++at;
    }
  }
  return translated;
}

}  // namespace

Result<std::function<bool(std::string_view name)>> CompileNamePattern(const std::string& pattern) {
  try {
    const Translated translated = Translate(pattern);
    auto flags = std::regex::ECMAScript;
    if (translated.ignores_case) flags |= std::regex::icase;
    const std::regex expression(translated.pattern, flags);
    return std::function<bool(std::string_view)>([expression](std::string_view name) {
      const std::string_view looked_at = name.substr(0, kMaxBytes);
      try {
        return std::regex_search(looked_at.begin(), looked_at.end(), expression,
                                 std::regex_constants::match_continuous);
      } catch (const std::regex_error&) {  // the match exceeds std::regex's limits
        return false;
      }
    });
  } catch (const std::regex_error& error) {
    return Error{ErrorCode::kInvalidArgument,
                 "\"" + pattern + "\" is not a supported regular expression: " + error.what(), 0};
  }
}

}  // namespace opscope

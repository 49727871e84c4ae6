// Turns the JSON options of a recording into a sentence. Known members have phrases ("max_bytes": 1024 becomes "at most
// 1.00 KiB"); unknown ones, from a newer recorder or another framework, print as "name value" with units guessed from
// the key's ending, so that nothing is hidden from the user.
// SPDX-License-Identifier: Apache-2.0
#include "report/recording_options.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/json_members.h"
#include "base/parse_whole.h"
#include "report/human_units.h"

namespace opscope {
namespace {

struct Phrase {
  std::string_view key;
  std::string_view before;                       // text before the value
  std::string_view as_true = {}, as_false = {};  // whole phrase for true and false
};
constexpr Phrase kPhrases[] = {
    {"abi", "recorder interface "},
    {"tsc", "clock: ", "clock: time-stamp counter", "clock: of the system"},
    {"max_bytes", "at most "},
    {"at_cap", "at the cap: "},
    {"broken_invariants", "broken invariants: "},
    {"torch_route", "torch by "},
    {"paddle_route", "Paddle by "},
};

// Replaces underscores in plain lower-case names only: a value may be an environment variable or a user's text.
void ReplaceUnderscores(std::string* words) {
  if (words->find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string::npos)
    std::replace(words->begin(), words->end(), '_', ' ');
}

bool IsObject(std::string_view value) {
  return value.starts_with('{') && value.ends_with('}');
}

std::string_view Inside(std::string_view object) {
  return object.substr(1, object.size() - 2);
}

// Options lie in each other once or twice; a damaged file may have any depth, which the stack of this thread has not.
constexpr int kMaxDepth = 16;

std::string WordsOfMembers(std::string_view members, int depth);

std::string WordsOfValue(std::string_view key, std::string_view value, int depth) {
  if (IsObject(value)) return depth < kMaxDepth ? "(" + WordsOfMembers(Inside(value), depth + 1) + ")" : "(...)";
  if (const std::optional<int64_t> number = ParseWhole<int64_t>(value); number) {
    if (key.ends_with("bytes")) return HumanBytes(*number);
    if (key.ends_with("_ns")) return HumanTime(*number);
  }
  std::string words(Unquoted(value));
  if (words.size() < value.size()) ReplaceUnderscores(&words);
  return words;
}

// "max_bytes": 1024 -> "at most 1.00 KiB"; "with_stack": true -> "with stack"; "threads": 3 -> "threads 3".
std::string WordsOf(std::string_view key, std::string_view value, int depth) {
  const auto* known =
      std::find_if(std::begin(kPhrases), std::end(kPhrases), [&](const Phrase& p) { return p.key == key; });
  const bool is_flag = value == "true" || value == "false";
  if (known != std::end(kPhrases)) {
    const std::string_view whole = value == "true" ? known->as_true : known->as_false;
    if (is_flag && !whole.empty()) return std::string(whole);
    return std::string(known->before) + WordsOfValue(key, value, depth);
  }
  std::string name(key);
  ReplaceUnderscores(&name);
  if (is_flag) return (value == "true" ? "" : "no ") + name;
  return name + " " + WordsOfValue(key, value, depth);
}

std::string WordsOfMembers(std::string_view members, int depth) {
  std::string words;
  ForEachJsonMember(members, [&](std::string_view key, std::string_view value) {
    if (key != "own_cost") words.append(words.empty() ? "" : ", ").append(WordsOf(key, value, depth));
    return true;
  });
  return words;
}

}  // namespace

std::string DescribeOptions(std::string_view options_json) {
  return IsObject(options_json) ? WordsOfMembers(Inside(options_json), 0) : "";
}

}  // namespace opscope

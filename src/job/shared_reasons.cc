// SPDX-License-Identifier: Apache-2.0
#include "job/shared_reasons.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace opscope {
namespace {

constexpr size_t kMaxReasons = 20;
constexpr size_t kMaxRanksOfReason = 20;

// Removes the number at the beginning of `text` and returns it. nullopt: `text` does not begin with a number.
std::optional<uint64_t> TakeNumber(std::string_view* text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return number;
}

std::optional<uint64_t> SumOf(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

}  // namespace

SharedReasons::Reason SharedReasons::Parse(std::string_view text) {
  Reason reason;
  reason.count = TakeNumber(&text);
  if (constexpr std::string_view kOf = " of "; reason.count && text.starts_with(kOf)) {
    std::string_view after = text.substr(kOf.size());
    reason.total = TakeNumber(&after);
    if (reason.total) text = after;
  }
  reason.rest = text;
  return reason;
}

void SharedReasons::Add(int64_t rank, std::string_view text) {
  Reason added = Parse(text);
  const auto is_same = [&](const Reason& known) {
    return known.rest == added.rest && known.count.has_value() == added.count.has_value() &&
           known.total.has_value() == added.total.has_value();
  };
  const auto known = std::find_if(reasons_.begin(), reasons_.end(), is_same);
  if (known == reasons_.end()) {
    if (reasons_.size() == kMaxReasons) return;
    added.ranks = {rank};
    reasons_.push_back(std::move(added));
    return;
  }
  known->count = SumOf(known->count, added.count);
  known->total = SumOf(known->total, added.total);
  known->ranks.insert(rank);
}

std::vector<std::string> SharedReasons::Texts() const {
  std::vector<std::string> texts;
  for (const Reason& reason : reasons_) {
    std::string text = "rank ";
    size_t listed = 0;
    for (auto rank = reason.ranks.begin(); rank != reason.ranks.end() && listed < kMaxRanksOfReason; ++rank, ++listed)
      text.append(listed == 0 ? "" : ", ").append(std::to_string(*rank));
    if (reason.ranks.size() > kMaxRanksOfReason)
      text.append(" and ").append(std::to_string(reason.ranks.size() - kMaxRanksOfReason)).append(" more");
    text.append(": ");
    if (reason.count) text.append(std::to_string(*reason.count));
    if (reason.total) text.append(" of ").append(std::to_string(*reason.total));
    texts.push_back(text + reason.rest);
  }
  return texts;
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "analysis/paddle/exact_starts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/json_members.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr int64_t kNotSaid = -1;

// "\"20148.389 us\"" as nanoseconds.
int64_t AfterTheFirst(std::string_view members) {
  const std::string_view text = JsonMember(members, "start_time");
  int64_t micros = 0, decimals = 0;
  if (!text.ends_with(" us\"")) return kNotSaid;
  const char* const end = text.data() + text.size();
  const auto [point, error] = std::from_chars(text.data() + 1, end, micros);
  if (error != std::errc() || micros < 0 || micros > INT64_MAX / 1000 - 1 || *point != '.') return kNotSaid;
  if (std::from_chars(point + 1, end, decimals).ptr != point + 4 || decimals < 0) return kNotSaid;
  return micros * 1000 + decimals;
}

}  // namespace

std::vector<int64_t> ExactStartsOfPaddlesJson(const Trace& trace) {
  constexpr int64_t kMicrosecond = 1000, kExact = 8'000'000;
  const SpanColumns& spans = trace.spans();
  std::vector<int64_t> starts;
  if (spans.size() == 0 || AfterTheFirst(trace.text(spans.extra[0])) == kNotSaid) return starts;
  // The first event was at or after each start that is cut, less what lies between.
  int64_t first = INT64_MIN;
  starts.reserve(spans.size());
  for (size_t span = 0; span < spans.size(); ++span) {
    starts.push_back(AfterTheFirst(trace.text(spans.extra[span])));
    if (starts.back() != kNotSaid && starts.back() <= kExact)
      first = std::max(first, SaturatingSubtract(spans.start[span].ns, starts.back()));
  }
  for (size_t span = 0; span < spans.size(); ++span) {
    const int64_t cut = spans.start[span].ns;
    const bool is_said = starts[span] != kNotSaid && first != INT64_MIN && cut % kMicrosecond == 0;
    starts[span] =
        !is_said ? cut : std::clamp(SaturatingAdd(first, starts[span]), cut, SaturatingAdd(cut, kMicrosecond - 1));
  }
  return starts;
}

}  // namespace opscope

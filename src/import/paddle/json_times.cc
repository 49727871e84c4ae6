// "ts" is truncated to microseconds, and "start_time" counts from the first event, whose exact time is not in the file.
// But each event bounds it: the first event was at that event's "ts" less its "start_time", or up to a microsecond
// later. The intersection of these bounds is nearly a point. Example: with the "ts" 769843 and the "start_time" 639.125
// us, the first event was at 769203.875 or later; another event says 769204.1 or later, so 769204.1 is used. If the
// intersection is empty, another program has changed the times, and they are not corrected.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/json_times.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/json_members.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr int64_t kCutNs = 1000;  // "ts" is truncated to multiples of it
constexpr int64_t kExactNs = 8'000'000;
constexpr int64_t kUnknownStart = -1;

// The member "start_time" ("20148.389 us") in nanoseconds; kUnknownStart if it is absent or malformed.
int64_t StartTimeOf(std::string_view members) {
  const std::string_view text = FindJsonMember(members, "start_time");
  int64_t micros = 0, decimals = 0;
  if (!text.ends_with(" us\"")) return kUnknownStart;
  const char* const end = text.data() + text.size();
  const auto [point, error] = std::from_chars(text.data() + 1, end, micros);
  if (error != std::errc() || micros < 0 || micros > INT64_MAX / 1000 - 1 || *point != '.') return kUnknownStart;
  if (std::from_chars(point + 1, end, decimals).ptr != point + 4 || decimals < 0) return kUnknownStart;
  return micros * 1000 + decimals;
}

}  // namespace

void GivePaddleTimes(TraceBuilder* builder) {
  const SpanColumns spans = builder->added_spans();
  if (spans.extra.empty()) return;
  std::vector<int64_t> start_times(spans.start.size(), kUnknownStart);
  // Each span gives a lower bound of the first event's time, too early by the truncated part, so the latest is best.
  int64_t first = std::numeric_limits<int64_t>::min(), least = std::numeric_limits<int64_t>::max();
  for (size_t row = 0; row < start_times.size(); ++row) {
    if (spans.start[row].ns % kCutNs == 0) start_times[row] = StartTimeOf(builder->text(spans.extra[row]));
    if (start_times[row] == kUnknownStart || start_times[row] > kExactNs) continue;
    const int64_t at_first = SaturatingSubtract(spans.start[row].ns, start_times[row]);
    first = std::max(first, at_first);
    least = std::min(least, at_first);
  }
  if (least > first || SaturatingSubtract(first, least) >= kCutNs) return;
  for (size_t row = 0; row < start_times.size(); ++row) {
    if (start_times[row] == kUnknownStart) continue;
    const int64_t cut = spans.start[row].ns;
    const int64_t start = std::clamp(SaturatingAdd(first, start_times[row]), cut, SaturatingAdd(cut, kCutNs - 1));
    builder->SetStart(static_cast<AddedSpan>(row), {start});
  }
  const auto to_middle = [](Timestamp& time) {
    if (time.ns % kCutNs == 0) time.ns = SaturatingAdd(time.ns, kCutNs / 2);
  };
  std::ranges::for_each(builder->instant_times(), to_middle);
  std::ranges::for_each(builder->allocation_times(), to_middle);
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/json_times.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "import/text/json_number.h"

namespace opscope {
namespace {

constexpr int64_t kCutNs = 1000;  // "ts" is cut to multiples of it
constexpr int64_t kNotTold = std::numeric_limits<int64_t>::min();

int64_t StartTimeOf(std::string_view members) {
  constexpr std::string_view kBefore = "\"start_time\": \"", kBehind = " us\"";
  const size_t before = members.find(kBefore);
  if (before == std::string_view::npos) return kNotTold;
  const std::string_view value = members.substr(before + kBefore.size());
  const size_t behind = value.find(kBehind);
  if (behind == std::string_view::npos) return kNotTold;
  JsonValue number;
  number.kind = JsonValue::Kind::kNumber;
  number.text = value.substr(0, behind);
  return ParseMicroseconds(number).value_or(kNotTold);
}

}  // namespace

void GivePaddleTimes(TraceBuilder* builder) {
  const SpanColumns spans = builder->added_spans();
  std::vector<int64_t> start_times(spans.start.size(), kNotTold);
  int64_t latest = kNotTold, earliest = std::numeric_limits<int64_t>::max();  // moments at which the first span began
  for (size_t row = 0; row < start_times.size() && !spans.extra.empty(); ++row) {
    if (spans.start[row].ns % kCutNs == 0) start_times[row] = StartTimeOf(builder->text(spans.extra[row]));
    if (start_times[row] == kNotTold) continue;
    latest = std::max(latest, spans.start[row].ns - start_times[row]);
    earliest = std::min(earliest, spans.start[row].ns - start_times[row]);
  }
  if (latest == kNotTold || latest - earliest >= kCutNs) return;
  for (size_t row = 0; row < start_times.size(); ++row) {
    if (start_times[row] != kNotTold) builder->SetStart(static_cast<AddedSpan>(row), {latest + start_times[row]});
  }
  const auto to_middle = [](Timestamp& time) {
    if (time.ns % kCutNs == 0) time.ns += kCutNs / 2;
  };
  std::ranges::for_each(builder->instant_times(), to_middle);
  std::ranges::for_each(builder->allocation_times(), to_middle);
}

}  // namespace opscope

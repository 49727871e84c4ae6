// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_usage_rows.h"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/range_maximum.h"
#include "base/saturating.h"

namespace opscope {

MemoryUsageRows::MemoryUsageRows(const Trace& trace, const std::vector<uint8_t>* selected)
    : trace_(trace), steps_(SelectedSteps(trace, selected)), row_of_name_(trace.string_count() + 1, kNoRow) {
}

std::map<int32_t, std::vector<MemoryUsageRows::RankStep>> MemoryUsageRows::SelectedSteps(
    const Trace& trace, const std::vector<uint8_t>* selected) {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  std::map<int32_t, std::vector<RankStep>> of_ranks;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.span[i] == SpanId::kNone) continue;
    const uint32_t span = Row(steps.span[i]);
    if (!IsSelected(selected, span)) continue;
    const auto [begin, end] = TimeOfSpan(spans, span);
    of_ranks[RankOfTrack(trace, spans.track[span])].push_back({begin, end, steps.number[i]});
  }
  const auto order = [](const RankStep& step) { return std::tuple(step.begin, step.number); };
  for (auto& [rank, list] : of_ranks)
    std::stable_sort(list.begin(), list.end(),
                     [&](const RankStep& a, const RankStep& b) { return order(a) < order(b); });
  return of_ranks;
}

DeviceMemoryRow& MemoryUsageRows::AddDevice(const MemoryPlace& place) {
  first_row_ = usage_.rows.size();
  DeviceMemoryRow& device = usage_.devices.emplace_back();
  device.place = place;
  return device;
}

void MemoryUsageRows::EndRows() {
  const DeviceMemoryRow& device = usage_.devices.back();
  const auto begin = usage_.rows.begin() + static_cast<ptrdiff_t>(first_row_);
  int64_t live_bytes = 0;
  for (auto row = begin; row != usage_.rows.end(); ++row) {
    row_of_name_[IndexOfName(row->name)] = kNoRow;
    live_bytes = SaturatingAdd(live_bytes, row->peak_bytes);
  }
  const auto text = [&](const OperatorMemoryRow& row) {
    return row.name == StringId::kNone ? std::string_view("(none)") : trace_.text(row.name);
  };
  std::sort(begin, usage_.rows.end(), [&](const OperatorMemoryRow& a, const OperatorMemoryRow& b) {
    if (a.peak_bytes != b.peak_bytes) return a.peak_bytes > b.peak_bytes;
    if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
    return text(a) < text(b);
  });
  if (device.peak_bytes != live_bytes) {
    usage_.rows.push_back(
        {.place = device.place, .is_before = true, .peak_bytes = SaturatingSubtract(device.peak_bytes, live_bytes)});
  }
}

void MemoryUsageRows::AddSteps(const Levels& levels) {
  const MemoryPlace place = usage_.devices.back().place;
  const auto steps = steps_.find(place.rank);
  if (steps == steps_.end()) return;
  const size_t room = MemoryUsage::kMaxSteps - usage_.steps.size(), count = std::min(room, steps->second.size());
  usage_.omitted_steps += steps->second.size() - count;
  if (count == 0) return;
  const RangeMaximum maximum(levels.after);
  for (const RankStep& step : std::span(steps->second).first(count)) {
    const size_t begin = levels.events_before(step.begin), end = levels.events_before(step.end);
    const int64_t start_bytes = levels.After(begin);
    usage_.steps.push_back({.place = place,
                            .number = step.number,
                            .start_bytes = start_bytes,
                            .end_bytes = levels.After(end),
                            .peak_bytes = std::max(start_bytes, maximum.In(begin, end))});
  }
}

}  // namespace opscope

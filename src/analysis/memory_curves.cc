// The level of a device is a sum over its allocations in order of time; the levels of categories are sums over the rows
// of the memory timeline, in which a storage moves from one category to another when an operator writes to it.
//
//   time 10  +100 (activation)      level 100    ACTIVATION 100
//   time 20   becomes a gradient    level 100    ACTIVATION   0    GRADIENT 100
//
// Times of equal events are one point, that of the last of them.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_curves.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/memory_events.h"
#include "analysis/tensor_life_events.h"
#include "base/saturating.h"
#include "opscope/torch/memory_timeline.h"

namespace opscope {
namespace {

void AddPoint(int64_t time_ns, int64_t bytes, MemoryCurve* curve) {
  if (!curve->times_ns.empty() && curve->times_ns.back() == time_ns) {
    curve->bytes.back() = bytes;
  } else if (curve->bytes.empty() || curve->bytes.back() != bytes) {
    curve->times_ns.push_back(time_ns);
    curve->bytes.push_back(bytes);
  }
}

MemoryCurve LevelOf(const Trace& trace, const MemoryPlace& place, const std::vector<uint32_t>& rows) {
  const AllocationColumns& allocations = trace.allocations();
  MemoryCurve curve;
  curve.place = place;
  int64_t level = 0;
  if (const int64_t known = allocations.total_allocated[rows[0]]; known != -1)
    level = SaturatingSubtract(known, allocations.bytes[rows[0]]);
  for (const uint32_t row : rows) {
    level = SaturatingAdd(level, allocations.bytes[row]);
    AddPoint(allocations.time[row].ns, level, &curve);
  }
  return curve;
}

// A curve for each stream with tensors, by rank, then by track.
std::vector<MemoryCurve> CurvesOfTensorLives(const Trace& trace) {
  std::vector<MemoryCurve> curves;
  for (const auto& [key, rows] : TensorLivesByStream(trace)) {
    const std::vector<TensorLifeEvent> events = TensorLifeEvents(trace, rows);
    if (events.empty()) continue;
    MemoryCurve& curve = curves.emplace_back();
    curve.track = TrackId{key.second};
    curve.place = PlaceOfStream(trace, curve.track);
    int64_t level = 0;
    for (const TensorLifeEvent& event : events) {
      level = SaturatingAdd(level, event.bytes);
      AddPoint(event.time_ns, level, &curve);
    }
  }
  return curves;
}

// The curves of one device by category, those that hold nothing included.
using CategoryCurves = std::array<MemoryCurve, kMemoryCategories>;

// `rows`: of the timeline, those of the device.
CategoryCurves CategoriesOf(const MemoryTimeline& timeline, const std::vector<uint32_t>& rows,
                            const MemoryPlace& place) {
  CategoryCurves curves;
  std::array<int64_t, kMemoryCategories> bytes{};
  for (size_t category = 0; category < kMemoryCategories; ++category) {
    curves[category].place = place;
    curves[category].category = MemoryCategoryName(static_cast<MemoryCategory>(category));
  }
  const auto add = [&](MemoryCategory category, int64_t change) {
    int64_t& level = bytes[static_cast<size_t>(category)];
    level = SaturatingAdd(level, change);
  };
  bool has_begun = false;
  for (const uint32_t number : rows) {
    const MemoryTimelineRow& row = timeline.rows[number];
    switch (row.action) {
      case MemoryAction::kPreexisting:
      case MemoryAction::kCreate:
        add(row.category, row.bytes);
        break;
      case MemoryAction::kIncrementVersion:
        add(row.category, SaturatingSubtract(0, row.bytes));
        add(row.next_category, row.bytes);
        break;
      case MemoryAction::kDestroy:
        add(row.category, SaturatingSubtract(0, row.bytes));
        break;
    }
    if (row.action == MemoryAction::kPreexisting) continue;  // before the first event
    for (size_t category = 0; category < kMemoryCategories; ++category)
      if (has_begun || bytes[category] != 0) AddPoint(row.time.ns, bytes[category], &curves[category]);
    has_begun = true;
  }
  return curves;
}

}  // namespace

std::vector<MemoryCurve> MeasureMemoryCurves(const Trace& trace) {
  return MeasureMemoryCurves(trace, trace.allocations().size() == 0 ? MemoryTimeline() : BuildMemoryTimeline(trace));
}

std::vector<MemoryCurve> MeasureMemoryCurves(const Trace& trace, const MemoryTimeline& timeline) {
  std::vector<MemoryCurve> curves;
  const std::map<MemoryPlace, std::vector<uint32_t>> rows = MemoryEventsByPlace(trace);
  if (rows.empty()) return CurvesOfTensorLives(trace);
  const bool has_categories = timeline.has_operators && !HasDeviceOfSeveralRanks(rows);
  RowsByDevice timeline_rows;
  if (has_categories) timeline_rows = TimelineRowsByDevice(timeline);
  for (const auto& [place, of_place] : rows) {
    curves.push_back(LevelOf(trace, place, of_place));
    if (!has_categories) continue;
    for (MemoryCurve& curve : CategoriesOf(timeline, timeline_rows[{place.device_type, place.device}], place)) {
      const auto holds = [](int64_t bytes) { return bytes != 0; };
      if (std::any_of(curve.bytes.begin(), curve.bytes.end(), holds)) curves.push_back(std::move(curve));
    }
  }
  return curves;
}

}  // namespace opscope

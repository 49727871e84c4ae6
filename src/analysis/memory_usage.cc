// Measures the memory of each device on its own: its events in order of time give the level after each, the highest of
// which is the peak; a second pass pairs allocations with frees, which tells the blocks that are live at the peak.
//
//   time 10  +100 at A  (total 300)   level 300    start = 300 - 100 = 200
//   time 20   +50 at B                level 350    peak: A 100, B 50, and 200 from before the recording
//   time 30  -100 at A                level 250
//
// A single pass would have to keep the live blocks of each name at every new peak, and a level that climbs in small
// steps has a new peak at most events.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_usage.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/allocation_spans.h"
#include "analysis/memory_blocks.h"
#include "analysis/memory_events.h"
#include "analysis/steps_of_ranks.h"
#include "base/range_maximum.h"
#include "base/saturating.h"

namespace opscope {
namespace {

struct RankStep {
  int64_t begin = 0, end = 0;  // ns
  int64_t number = 0;
};

// The selected steps of each rank, by begin.
std::map<int32_t, std::vector<RankStep>> SelectedSteps(const Trace& trace, const std::vector<uint8_t>* selected) {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  std::map<int32_t, std::vector<RankStep>> of_ranks;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.span[i] == SpanId::kNone) continue;
    const uint32_t span = Row(steps.span[i]);
    if (selected != nullptr && (*selected)[span] == 0) continue;
    const int64_t begin = spans.start[span].ns;
    of_ranks[RankOfTrack(trace, spans.track[span])].push_back(
        {begin, SaturatingAdd(begin, spans.duration[span].ns), steps.number[i]});
  }
  const auto order = [](const RankStep& step) { return std::tuple(step.begin, step.number); };
  for (auto& [rank, list] : of_ranks)
    std::stable_sort(list.begin(), list.end(),
                     [&](const RankStep& a, const RankStep& b) { return order(a) < order(b); });
  return of_ranks;
}

class MemoryMeasurement {
 public:
  MemoryMeasurement(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace), allocations_(trace.allocations()), row_of_name_(trace.string_count() + 1, kNoRow) {
    const AllocationsByTrack by_track(trace);
    names_ = OperatorsOfAllocations(trace, by_track);
    if (selected != nullptr) chosen_ = SelectAllocations(trace, by_track, *selected);
    steps_ = SelectedSteps(trace, selected);
    // A span of that name and the lack of a span are one row.
    if (const std::optional<StringId> none = trace.FindString("(none)"))
      std::ranges::replace(names_, *none, StringId::kNone);
  }

  MemoryUsage Measure() {
    for (const auto& [place, rows] : MemoryEventsByPlace(trace_))
      AddDevice(place, rows);
    return std::move(usage_);
  }

 private:
  static constexpr uint32_t kNoRow = 0xffffffff;

  // A device while it is measured. Events are numbered in order of time.
  struct Device {
    MemoryPlace place;
    std::span<const uint32_t> rows;  // of `allocations`
    std::vector<int64_t> levels;     // after each event
    int64_t first_level = 0;         // before the first event
    size_t events_at_peak = 0;       // the peak is the level after so many events

    int64_t LevelAfter(size_t events) const { return events == 0 ? first_level : levels[events - 1]; }
  };

  bool IsChosen(uint32_t row) const { return chosen_.empty() || chosen_[row] != 0; }

  void AddDevice(const MemoryPlace& place, std::span<const uint32_t> rows) {
    if (std::none_of(rows.begin(), rows.end(), [&](uint32_t row) { return IsChosen(row); })) return;
    Device device;
    device.place = place;
    device.rows = rows;
    AddLevels(&device);
    AddOperators(device);
    AddSteps(device);
  }

  void AddLevels(Device* device) {
    DeviceMemoryRow total;
    total.place = device->place;
    const uint32_t first = device->rows[0];
    if (const int64_t known = allocations_.total_allocated[first]; known != -1)
      device->first_level = SaturatingSubtract(known, allocations_.bytes[first]);
    device->levels.resize(device->rows.size());
    int64_t level = device->first_level;
    bool is_first = true;
    for (size_t i = 0; i < device->rows.size(); ++i) {
      const uint32_t row = device->rows[i];
      const int64_t bytes = allocations_.bytes[row], before = level;
      device->levels[i] = level = SaturatingAdd(level, bytes);
      if (!IsChosen(row)) continue;
      if (is_first) {
        is_first = false;
        total.start_bytes = total.peak_bytes = before;
        total.peak_ns = allocations_.time[row].ns;
        device->events_at_peak = i;
      }
      // Without branches: signs of bytes are hard to predict.
      total.allocations += bytes > 0;
      total.frees += bytes < 0;
      total.allocated_bytes = SaturatingAdd(total.allocated_bytes, std::max<int64_t>(bytes, 0));
      total.freed_bytes = SaturatingSubtract(total.freed_bytes, std::min<int64_t>(bytes, 0));
      total.end_bytes = level;
      if (level > total.peak_bytes) {
        total.peak_bytes = level;
        total.peak_ns = allocations_.time[row].ns;
        device->events_at_peak = i + 1;
      }
      if (const int64_t found = allocations_.total_reserved[row]; found != -1)
        total.peak_reserved_bytes = std::max(total.peak_reserved_bytes.value_or(INT64_MIN), found);
    }
    usage_.devices.push_back(total);
  }

  void AddOperators(const Device& device) {
    const size_t first = usage_.rows.size();
    DeviceMemoryRow& total = usage_.devices.back();
    const MemoryBlocks blocks(trace_, device.rows);
    int64_t live_bytes = 0;
    for (uint32_t i = 0; i < device.rows.size(); ++i) {
      const uint32_t event = device.rows[i];
      const int64_t bytes = allocations_.bytes[event];
      if (bytes <= 0) continue;
      const bool is_chosen = IsChosen(event);
      const bool is_live = i < device.events_at_peak && blocks.IsLiveAfter(i, device.events_at_peak);
      if (!is_chosen && !is_live) continue;
      OperatorMemoryRow& row = RowOf(device.place, names_[event]);
      if (is_chosen) {
        ++row.allocations;
        row.allocated_bytes = SaturatingAdd(row.allocated_bytes, bytes);
      }
      if (is_live) {
        row.peak_bytes = SaturatingAdd(row.peak_bytes, bytes);
        live_bytes = SaturatingAdd(live_bytes, bytes);
      }
    }
    for (uint32_t i : blocks.newest_kept()) {
      while (i != MemoryBlocks::kNever && !IsChosen(device.rows[i]))
        i = blocks.OlderKept(i);
      if (i != MemoryBlocks::kNever) ++total.kept;
    }
    SortRows(first);
    if (total.peak_bytes != live_bytes) {
      usage_.rows.push_back(
          {.place = device.place, .is_before = true, .peak_bytes = SaturatingSubtract(total.peak_bytes, live_bytes)});
    }
  }

  // The row of this name in the device that is being measured.
  OperatorMemoryRow& RowOf(const MemoryPlace& place, StringId name) {
    uint32_t& row = row_of_name_[IndexOfName(name)];
    if (row == kNoRow) {
      row = static_cast<uint32_t>(usage_.rows.size());
      usage_.rows.push_back({.place = place, .name = name});
    }
    return usage_.rows[row];
  }

  size_t IndexOfName(StringId name) const { return name == StringId::kNone ? row_of_name_.size() - 1 : Row(name); }

  // Ends the rows of a device, which begin at `first`.
  void SortRows(size_t first) {
    const auto begin = usage_.rows.begin() + static_cast<ptrdiff_t>(first);
    for (auto row = begin; row != usage_.rows.end(); ++row)
      row_of_name_[IndexOfName(row->name)] = kNoRow;
    const auto text = [&](const OperatorMemoryRow& row) {
      return row.name == StringId::kNone ? std::string_view("(none)") : trace_.text(row.name);
    };
    std::sort(begin, usage_.rows.end(), [&](const OperatorMemoryRow& a, const OperatorMemoryRow& b) {
      if (a.peak_bytes != b.peak_bytes) return a.peak_bytes > b.peak_bytes;
      if (a.allocated_bytes != b.allocated_bytes) return a.allocated_bytes > b.allocated_bytes;
      return text(a) < text(b);
    });
  }

  void AddSteps(const Device& device) {
    const auto steps = steps_.find(device.place.rank);
    if (steps == steps_.end()) return;
    const size_t room = MemoryUsage::kMaxSteps - usage_.steps.size(), count = std::min(room, steps->second.size());
    usage_.omitted_steps += steps->second.size() - count;
    if (count == 0) return;
    const RangeMaximum levels(device.levels);
    const auto events_before = [&](int64_t time) {
      const auto found = std::partition_point(device.rows.begin(), device.rows.end(),
                                              [&](uint32_t row) { return allocations_.time[row].ns < time; });
      return static_cast<size_t>(found - device.rows.begin());
    };
    for (const RankStep& step : std::span(steps->second).first(count)) {
      const size_t begin = events_before(step.begin), end = events_before(step.end);
      const int64_t start_bytes = device.LevelAfter(begin);
      usage_.steps.push_back({.place = device.place,
                              .number = step.number,
                              .start_bytes = start_bytes,
                              .end_bytes = device.LevelAfter(end),
                              .peak_bytes = std::max(start_bytes, levels.In(begin, end))});
    }
  }

  const Trace& trace_;
  const AllocationColumns& allocations_;
  std::vector<StringId> names_;  // by row of `allocations`: the operator
  std::vector<uint8_t> chosen_;  // likewise; empty: all are
  std::map<int32_t, std::vector<RankStep>> steps_;
  std::vector<uint32_t> row_of_name_;  // in usage_.rows, of the device that is being measured; last: no span
  MemoryUsage usage_;
};

}  // namespace

MemoryUsage MeasureMemoryUsage(const Trace& trace, const std::vector<uint8_t>* selected) {
  return MemoryMeasurement(trace, selected).Measure();
}

}  // namespace opscope

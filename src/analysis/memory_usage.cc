// Measures the memory of each device on its own: its events in order of time give the level after each, the highest of
// which is the peak; a second pass pairs allocations with frees, which gives the blocks that are live at the peak.
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

#include "analysis/allocation_spans.h"
#include "analysis/memory_blocks.h"
#include "analysis/memory_events.h"
#include "analysis/memory_usage_rows.h"
#include "analysis/tensor_life_usage.h"
#include "base/saturating.h"

namespace opscope {
namespace {

class MemoryMeasurement {
 public:
  MemoryMeasurement(const Trace& trace, const std::vector<uint8_t>* selected)
      : trace_(trace), allocations_(trace.allocations()), usage_(trace, selected) {
    const AllocationsByTrack by_track(trace);
    names_ = OperatorsOfAllocations(trace, by_track);
    if (selected != nullptr) chosen_ = SelectAllocations(trace, by_track, *selected);
    // A span of that name and the lack of a span are one row.
    if (const std::optional<StringId> none = trace.FindString("(none)"))
      std::ranges::replace(names_, *none, StringId::kNone);
  }

  MemoryUsage Measure() {
    for (const auto& [place, rows] : MemoryEventsByPlace(trace_))
      AddDevice(place, rows);
    return usage_.Take();
  }

 private:
  // A device while it is measured. Events are numbered in order of time.
  struct Device {
    std::span<const uint32_t> rows;  // of `allocations`
    std::vector<int64_t> levels;     // after each event
    int64_t first_level = 0;         // before the first event
    size_t events_at_peak = 0;       // the peak is the level after so many events
  };

  bool IsChosen(uint32_t row) const { return chosen_.empty() || chosen_[row] != 0; }

  void AddDevice(const MemoryPlace& place, std::span<const uint32_t> rows) {
    if (std::none_of(rows.begin(), rows.end(), [&](uint32_t row) { return IsChosen(row); })) return;
    Device device{.rows = rows, .levels = {}};
    DeviceMemoryRow& total = usage_.AddDevice(place);
    AddLevels(&device, &total);
    AddOperators(device, &total);
    const auto events_before = [&](int64_t time) {
      const auto found = std::partition_point(rows.begin(), rows.end(),
                                              [&](uint32_t row) { return allocations_.time[row].ns < time; });
      return static_cast<size_t>(found - rows.begin());
    };
    usage_.AddSteps({.first = device.first_level, .after = device.levels, .events_before = events_before});
  }

  void AddLevels(Device* device, DeviceMemoryRow* of_device) {
    DeviceMemoryRow total = *of_device;  // a local copy: the compiler keeps it in registers beside the levels
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
    *of_device = total;
  }

  void AddOperators(const Device& device, DeviceMemoryRow* total) {
    const MemoryBlocks blocks(trace_, device.rows);
    for (uint32_t i = 0; i < device.rows.size(); ++i) {
      const uint32_t event = device.rows[i];
      const int64_t bytes = allocations_.bytes[event];
      if (bytes <= 0) continue;
      const bool is_chosen = IsChosen(event);
      const bool is_live = i < device.events_at_peak && blocks.IsLiveAfter(i, device.events_at_peak);
      if (!is_chosen && !is_live) continue;
      OperatorMemoryRow& row = usage_.RowOf(names_[event]);
      if (is_chosen) {
        ++row.allocations;
        row.allocated_bytes = SaturatingAdd(row.allocated_bytes, bytes);
      }
      if (is_live) row.peak_bytes = SaturatingAdd(row.peak_bytes, bytes);
    }
    for (uint32_t i : blocks.newest_kept()) {
      while (i != MemoryBlocks::kNever && !IsChosen(device.rows[i]))
        i = blocks.OlderKept(i);
      if (i != MemoryBlocks::kNever) ++total->kept;
    }
    usage_.EndRows();
  }

  const Trace& trace_;
  const AllocationColumns& allocations_;
  std::vector<StringId> names_;  // by row of `allocations`: the operator
  std::vector<uint8_t> chosen_;  // likewise; empty: all are
  MemoryUsageRows usage_;
};

}  // namespace

MemoryUsage MeasureMemoryUsage(const Trace& trace, const std::vector<uint8_t>* selected) {
  if (trace.allocations().size() == 0) return MeasureTensorLifeUsage(trace, selected);
  return MemoryMeasurement(trace, selected).Measure();
}

}  // namespace opscope

// The parts of MemoryUsage that do not depend on where the events of a device come from: rows by operator, and the level
// in each step.
//
// Thread rule: an object belongs to one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// Collects one device after the other.
class MemoryUsageRows {
 public:
  // `selected`: of spans; nullptr: all. Both outlive the object.
  MemoryUsageRows(const Trace& trace, const std::vector<uint8_t>* selected);

  // Begins a device. The reference is valid until the next call.
  DeviceMemoryRow& AddDevice(const MemoryPlace& place);
  // The row of this name in the device that was added last. kNone: no operator.
  OperatorMemoryRow& RowOf(StringId name) {
    uint32_t& row = row_of_name_[IndexOfName(name)];
    if (row == kNoRow) {
      row = static_cast<uint32_t>(usage_.rows.size());
      usage_.rows.push_back({.place = usage_.devices.back().place, .name = name});
    }
    return usage_.rows[row];
  }
  // Orders the rows of the device that was added last, and adds what they lack of its peak as the row `(before)`.
  void EndRows();

  // The levels of a device: before its first event, and after each.
  struct Levels {
    int64_t first = 0;
    std::span<const int64_t> after;
    std::function<size_t(int64_t time_ns)> events_before;  // the number of events before a time

    int64_t After(size_t events) const { return events == 0 ? first : after[events - 1]; }
  };
  // Adds the selected steps of the rank of the device that was added last. O(events + steps log events).
  void AddSteps(const Levels& levels);

  MemoryUsage Take() { return std::move(usage_); }

 private:
  static constexpr uint32_t kNoRow = 0xffffffff;

  struct RankStep {
    int64_t begin = 0, end = 0;  // ns
    int64_t number = 0;
  };

  static std::map<int32_t, std::vector<RankStep>> SelectedSteps(const Trace& trace,
                                                                const std::vector<uint8_t>* selected);
  size_t IndexOfName(StringId name) const { return name == StringId::kNone ? row_of_name_.size() - 1 : Row(name); }

  const Trace& trace_;
  const std::map<int32_t, std::vector<RankStep>> steps_;  // of each rank, by begin
  std::vector<uint32_t> row_of_name_;                     // in usage_.rows, of the last device; at the end: no operator
  size_t first_row_ = 0;                                  // of the last device, in usage_.rows
  MemoryUsage usage_;
};

}  // namespace opscope

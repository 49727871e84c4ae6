// The device time that each host span launched, from Trace::launches. A stream's track also shows waiting threads
// (cuda_sync) and CPU nodes of a graph (graph_host_node); neither counts as device work.
//
// Thread rule: immutable after construction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/number_set.h"
#include "opscope/trace.h"

namespace opscope {

class DeviceLaunches {
 public:
  explicit DeviceLaunches(const Trace& trace);  // O(launches)

  bool has_device() const { return has_device_; }
  // Sum in ns of the device spans that host span `row` launched; 0 if none. O(1).
  int64_t LaunchedBy(uint32_t row) const {
    const size_t index = launchers_.IndexOf(row);
    return index == NumberSet::kNone ? 0 : times_[index];
  }

 private:
  bool has_device_ = false;
  NumberSet launchers_;         // rows of host spans
  std::vector<int64_t> times_;  // by index in launchers_
};

}  // namespace opscope

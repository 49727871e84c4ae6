// How much device time each host span launched (Trace::launches says which span of a device it launched). A thread that
// waits for a stream is shown on it (cuda_sync), and so is what the CPU does in between (graph_host_node), but neither
// is work of the device.
//
// Thread rule: immutable once made.
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
  // Durations of the device spans that the span launched, 0 for spans outside of threads.
  int64_t LaunchedBy(uint32_t row) const {
    const size_t place = launchers_.PlaceOf(row);
    return place == NumberSet::kNone ? 0 : times_[place];
  }

 private:
  bool has_device_ = false;
  NumberSet launchers_;         // rows of host spans
  std::vector<int64_t> times_;  // by place there
};

}  // namespace opscope

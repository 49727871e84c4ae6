// Delays between the launch of device work and its begin.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "analysis/intervals.h"
#include "opscope/analysis/devices.h"

namespace opscope {

// Device work, and its launching call if known.
struct LaunchedWork {
  Interval work;
  std::optional<Interval> launch;
  uint32_t span = 0;  // row of the work, for who needs it
};

// window_ns: period for the mean queue length; 0 gives 0. O(n log n).
[[nodiscard]] LaunchDelays MeasureLaunches(std::span<const LaunchedWork> works, int64_t window_ns);

}  // namespace opscope

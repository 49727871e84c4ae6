// From when works were called for until they began.
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

// A work, and the call that launched it where that is known.
struct LaunchedWork {
  Interval work;
  std::optional<Interval> launch;
};

// window_ns: what the queue's mean is over; 0 gives 0. O(n log n).
[[nodiscard]] LaunchDelays MeasureLaunches(std::span<const LaunchedWork> works, int64_t window_ns);

}  // namespace opscope

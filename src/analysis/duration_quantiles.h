// Quantiles of the durations of a group: median, 99th percentile, and standard deviation.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace opscope {

// Percentiles use the nearest rank: the smallest duration that at least so many per cent do not exceed. The standard
// deviation is that of the population, rounded.
struct DurationQuantiles {
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t stddev_ns = 0;
};

// Zeros for an empty group. Reorders `durations_ns`. O(n).
DurationQuantiles QuantilesOf(std::span<int64_t> durations_ns);

}  // namespace opscope

// How durations spread within a group: median, 99th percentile, standard deviation.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace opscope {

// Percentiles are durations that occurred (nearest rank: the smallest that at least so many per cent do not exceed).
// stddev is that of the population, rounded.
struct DurationSpread {
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t stddev_ns = 0;
};

// Of one group; zeros without a duration. Changes the order of the durations. O(durations).
DurationSpread SpreadOf(std::span<int64_t> durations_ns);

}  // namespace opscope

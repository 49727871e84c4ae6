// Times something short on a machine that does other work too: several short runs, of which the median
// counts. A run that was interrupted, or that met cold memory, does not.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>

namespace opscope {

inline constexpr size_t kShortRuns = 9;

// Nanoseconds, for differences within one process.
inline double PreciseNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The median of what `run` returns; one run more than kShortRuns goes ahead to warm up.
template <typename Run>
double MedianOfRuns(const Run& run) {
  run();
  std::array<double, kShortRuns> values;
  for (double& value : values)
    value = run();
  std::nth_element(values.begin(), values.begin() + kShortRuns / 2, values.end());
  return values[kShortRuns / 2];
}

}  // namespace opscope

// Times short things on a machine that does other work too: several short runs, of which the median counts.
// A run that was interrupted, or that met cold memory, does not. What else the machine does comes in bursts
// (of 0.03 to 1 ms where this was made), so several things are timed in turns: a burst then takes a run or
// two of each, and not all runs of one.
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

// The medians of what `run` returns, each of its own; one run more than kShortRuns goes ahead to warm up.
template <size_t N, typename Run>
std::array<double, N> MediansOfRuns(const Run& run) {
  run();
  std::array<std::array<double, kShortRuns>, N> values;
  for (size_t i = 0; i < kShortRuns; ++i) {
    const std::array<double, N> figures = run();
    for (size_t figure = 0; figure < N; ++figure)
      values[figure][i] = figures[figure];
  }
  std::array<double, N> medians;
  for (size_t figure = 0; figure < N; ++figure) {
    auto& of_figure = values[figure];
    std::nth_element(of_figure.begin(), of_figure.begin() + kShortRuns / 2, of_figure.end());
    medians[figure] = of_figure[kShortRuns / 2];
  }
  return medians;
}

}  // namespace opscope

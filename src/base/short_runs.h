// Times short operations on a busy machine: the median of nine short runs. The median ignores a run that
// was interrupted or met a cold cache. Other work comes in bursts (0.03 to 1 ms on the machine where this
// was made), so several operations are timed in turns: a burst then hits one run of each, not all runs of
// one.
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

// Nanoseconds of CLOCK_MONOTONIC; only differences within one process mean anything.
inline double PreciseNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// `run` returns N figures; the result has the median of each. One run more goes ahead to warm up.
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

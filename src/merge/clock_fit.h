// Expresses one clock in terms of another by offset and drift, fitted to moments that both recorded. The fit is robust:
// single late arrivals do not move it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace opscope {

// The same moment on two clocks, in nanoseconds.
struct ClockPair {
  int64_t own = 0;
  int64_t reference = 0;
};

// reference = own + offset_ns + drift * (own - pivot_ns)
struct ClockMap {
  int64_t pivot_ns = 0;
  int64_t offset_ns = 0;
  double drift = 0;

  int64_t ToReference(int64_t own_ns) const;
};

struct ClockFit {
  ClockMap map;
  int64_t residual_p50_ns = 0;  // median distance of all pairs from the line, outliers included
  int64_t residual_p99_ns = 0;
  bool drifts_too_much = false;  // no crystal drifts so much: the pairs are not the same moments
};

// Least squares over the pairs within four median distances, repeated until the line stays put. A drift is fitted only
// from at least four pairs over at least 0.1 s, if it exceeds the noise and is below 500 ppm, more than any crystal
// has. O(n log n). REQUIRES: pairs is not empty.
[[nodiscard]] ClockFit FitClock(std::span<const ClockPair> pairs);

}  // namespace opscope

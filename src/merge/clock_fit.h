// One clock in terms of another, from moments that both saw: offset and drift, fitted so that single late arrivals do
// not count.
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
  int64_t residual_p50_ns = 0;  // of all pairs, the outliers too
  int64_t residual_p99_ns = 0;
  bool drifts_too_much = false;  // for any crystal: the pairs are not the same moments
};

// Least squares over the pairs that lie within four times the median distance, repeated until the choice stands. A
// drift is fitted from four pairs on, over at least a tenth of a second, where it stands out of the noise, and at most
// 500 ppm, more than any crystal has. REQUIRES: pairs is not empty.
[[nodiscard]] ClockFit FitClock(std::span<const ClockPair> pairs);

}  // namespace opscope

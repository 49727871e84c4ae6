// Which clock ReadTicks reads, and what its ticks mean in nanoseconds since 1970.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/record.h"

namespace opscope {

// True where the TSC runs at one rate on all cores and the system itself trusts it.
bool TscIsTrustworthy();

// CLOCK_MONOTONIC and CLOCK_REALTIME read together.
struct WallReading {
  int64_t monotonic_ns = 0;
  int64_t unix_ns = 0;
  int64_t within_ns = 0;  // the most time between the two readings
  int64_t offset_ns() const { return unix_ns - monotonic_ns; }
};

// Takes several readings and returns the shortest. A window keeps the reading of its opening, so that a step of
// the wall clock (NTP, an administrator) does not bend the times inside it.
WallReading ReadWallClock();

// Reads ticks and time together, several times, and returns the pair of the shortest reading.
Calibration Calibrate(int64_t wall_offset_ns);

// Ticks and the nanoseconds that they took, measured since the library was loaded (waits until that is a
// millisecond ago).
Calibration TickRate();

// CLOCK_MONOTONIC_COARSE: a few nanoseconds per call, a few milliseconds of resolution.
int64_t CoarseMonotonicNs();

}  // namespace opscope

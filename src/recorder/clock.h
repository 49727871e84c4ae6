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

// CLOCK_REALTIME minus CLOCK_MONOTONIC now. A window keeps the one it opened with, so that a step of
// the wall clock (NTP, an administrator) does not bend the times inside it.
int64_t WallOffsetNs();

// Ticks and time read together; of several tries the one that took least.
Calibration Calibrate(int64_t wall_offset_ns);

// Ticks and the nanoseconds that they took, measured since the library was loaded (waits until that is a
// millisecond ago).
Calibration TickRate();

int64_t CoarseMonotonicNs();

}  // namespace opscope

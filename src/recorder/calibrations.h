// The calibrations of one window: at its opening, at its close, and when a chunk is taken more than a
// second after the last one (clocks drift 60 to 640 ns per second against each other).
//
// Thread rule: any thread; each takes the window's mutex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// Reads the clocks now. Kept only when there is memory for it.
Calibration AddCalibration(Window* window);
void KeepCalibrated(Window* window);
Calibration NewestCalibration(Window* window);

}  // namespace opscope

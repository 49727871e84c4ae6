// The calibrations of one window, which tie its ticks to time: one at its opening, one at its close, and one when a
// thread takes a chunk and the last is a second old.
//
// Thread rule: any thread, with signals blocked; each function takes the window's mutex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// Reads the clocks now and adds the reading to the window's, if the allocation succeeds. Returns it in any case.
Calibration AddCalibration(Window* window);
// Adds one if the last is a second old and the window is open.
void KeepCalibrated(Window* window);
// The last one that was added; zeroes if the window has none yet.
Calibration NewestCalibration(Window* window);

}  // namespace opscope

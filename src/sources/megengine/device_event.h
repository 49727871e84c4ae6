// Times of a device, from MegEngine's events that were recorded on it.
//
// Thread rule: any thread, without Python's GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::megengine {

// The computing node of a device event. Null: MegEngine threw.
const void* DeviceOf(void* event);
// Whole nanoseconds from one event to another of the same device. Waits for the later one. False: MegEngine threw.
bool ElapsedBetween(void* first, void* event, int64_t* nanoseconds);

}  // namespace opscope::megengine

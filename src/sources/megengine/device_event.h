// When a device was where, by an event of MegEngine's that was recorded on it.
//
// Thread rule: any thread, without Python's GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope::megengine {

// The computing node of a device event. Null: it threw.
const void* DeviceOf(void* event);
// Nanoseconds from one event to another of the same device, cut to whole ones. Waits for it. False: it threw.
bool ElapsedBetween(void* first, void* event, int64_t* nanoseconds);

}  // namespace opscope::megengine

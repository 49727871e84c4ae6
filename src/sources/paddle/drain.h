// Uses Paddle's own recorder of events without its profiler, for a Paddle whose GOT entries cannot be used. It is
// switched on with the recording, and emptied into tracks of the window at the end. While it runs it costs as much as
// Paddle's profiler; the end is cheaper. One recording at a time, and not beside Paddle's profiler.
//
// Thread rule: one call at a time. Emptying Paddle's recorder frees its blocks of events without a lock
// (docs/explanation/paddle_recording.md): a thread that is still ending an event 10 ms after the recorder was switched
// off writes into freed memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/recorder_abi.h"

namespace opscope {

// Null: it records; else a static sentence.
const char* StartDrain();
void StopDrain(Window* window);
// In the child of a fork: forgets the parent's recording.
void LeaveDrain();

}  // namespace opscope

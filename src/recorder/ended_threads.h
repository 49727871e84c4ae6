// The remains of ended threads in a window. A job may start a thread per request, so an ended thread is
// compacted to the size of its records, counts against the cap, and is evicted when the cap needs the room. Its
// counts stay; those of many threads are added up.
//
// Thread rule: as said by each function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// The thread of an open window's stream has ended.
void CompactEndedStream(StreamState* state) OPSCOPE_REQUIRES(registry.mutex, state->mutex);

// At the cap of a window that keeps the newest events: frees the records of the thread that ended first. False: no
// thread has ended, or another thread holds the lists now. REQUIRES: neither registry.mutex nor the mutex of a stream
// of an ended thread is held.
bool EvictEndedStream(Window* window);

}  // namespace opscope

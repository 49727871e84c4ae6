// What a window keeps of threads that ended. A job may start a thread for every request, so what such a
// thread leaves is made as small as its records, counts against the cap, and goes when the cap asks for it;
// its counts stay, and are added up when there are many.
//
// Thread rule: as said by each function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder/registry.h"

namespace opscope {

// The thread of an open window's stream has ended.
void SettleEndedStream(StreamState* state) OPSCOPE_REQUIRES(registry.mutex, state->mutex);

// At the cap of a window that keeps the newest: gives up the records of the thread that ended first. False: there is
// none, or another thread holds the lists just now. REQUIRES: neither registry.mutex nor the mutex of a stream of
// an ended thread is held.
bool GiveUpEndedStream(Window* window);

}  // namespace opscope

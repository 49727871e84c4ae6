// Adds what another recorder has recorded of a thread to the window, as a track.
//
// Thread rule: calls for one window take turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "opscope/recorder_abi.h"

namespace opscope {

// A list per thread, in the order in which ranges ended: children before their parents, as records stand, but without
// depths. Those follow from the times. Throws std::bad_alloc.
void AppendPaddleThread(Window* window, const PaddleThreadEvents& thread);

}  // namespace opscope

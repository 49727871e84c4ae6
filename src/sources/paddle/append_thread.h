// Adds the records that another recorder made of a thread to the window, as a track.
//
// Thread rule: calls for one window take turns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "opscope/recorder_abi.h"

namespace opscope {

// The ranges of one thread in the order of their ends, so children precede their parents. Computes the depths from the
// times. Throws std::bad_alloc.
void AppendPaddleThread(Window* window, const PaddleThreadEvents& thread);

}  // namespace opscope

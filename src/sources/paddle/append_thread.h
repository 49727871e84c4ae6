// Adds the events of one thread that another recorder has recorded, as a track of the window.
//
// Thread rule: one call at a time per window.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/paddle_source.h"
#include "opscope/recorder_abi.h"

namespace opscope {

// The ranges of one thread in the order of their ends, so children precede their parents. Computes the depths from the
// times. Throws std::bad_alloc.
void AppendPaddleThread(Window* window, const PaddleThreadEvents& thread);

}  // namespace opscope

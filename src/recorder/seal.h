// Makes the records of one thread in a window final, while that thread may still be writing.
//
// Thread rule: the closing thread, with the window's close mutex held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recorder/registry.h"

namespace opscope {

// Completes the open scopes as kUnfinished records that reach to `end_ticks`, and sets the stream's
// final figures. REQUIRES: Stream::generation is 0 already.
void SealStream(Window* window, StreamState* state, uint64_t end_ticks);

}  // namespace opscope

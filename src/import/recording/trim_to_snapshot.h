// A file that was read while its program recorded: the reader passes a chunk, its thread goes on to the next
// one, and the reader finds that too, so between them records are missing that were written in the meantime.
// Here every thread is cut down to what was there at one moment, without a gap.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/window.h"

namespace opscope {

// Returns the number of chunks that were left out. Of the windows that did not end only; what a process left
// that was killed is of one moment and stays whole. `damaged`: chunks may be missing for that reason too, so a
// missing one says nothing. `chunks`: by process, thread, window and sequence.
uint64_t KeepOneMoment(const std::vector<WindowInfo>& windows, bool damaged, std::vector<RecordingChunk>* chunks);

}  // namespace opscope

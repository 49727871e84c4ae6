// A file that was read while its program still recorded is no snapshot: the reader copies a chunk, the thread fills it
// up and goes on to the next one, and the reader finds that one, too. Records between the two are missing. This cuts
// each thread down to a run of chunks without such a gap.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/window.h"

namespace opscope {

// Changes the chunks of windows that did not end, and returns how many were left out. What a killed process left is
// a snapshot already and stays whole. `damaged`: blocks of the file could not be read, so a missing chunk is no sign
// of a gap. REQUIRES: `chunks` are ordered by process, thread, window and sequence.
uint64_t TrimToSnapshot(const std::vector<WindowInfo>& windows, bool damaged, std::vector<RecordingChunk>* chunks);

}  // namespace opscope

// A file that was read while its program still recorded is no snapshot: the reader copies a chunk, the thread fills the
// chunk and begins the next one, and the reader copies that one too. Then records between the two copies are missing.
// This file reduces each thread to a run of chunks without such a gap.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/window.h"

namespace opscope {

// Reduces the chunks of windows without an end, and returns the number of dropped chunks. The recording of a killed
// process is a snapshot already and stays whole. `damaged`: some blocks of the file could not be read, so a missing
// chunk does not prove a gap. REQUIRES: `chunks` are ordered by process, thread, window and sequence.
uint64_t TrimToSnapshot(const std::vector<WindowInfo>& windows, bool damaged, std::vector<RecordingChunk>* chunks);

}  // namespace opscope

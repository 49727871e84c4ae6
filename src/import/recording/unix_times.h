// Tracks whose records carry unix times (kUnixTimes of record.h), told in the recorder's ticks as all others are.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "import/recording/chunk.h"
#include "import/recording/clock.h"

namespace opscope {

// Chunks with unix times are replaced by copies in ticks, whose bytes `copies` holds.
void TellInTicks(const TickClock& clock, std::vector<RecordingChunk>* chunks, std::deque<std::string>* copies);

}  // namespace opscope

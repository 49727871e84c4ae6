// Converts records with unix times (kUnixTimes of record.h) to the recorder's ticks, which all other records use.
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
void ConvertToTicks(const TickClock& clock, std::vector<RecordingChunk>* chunks, std::deque<std::string>* copies);

}  // namespace opscope

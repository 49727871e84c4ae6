// When the events of a JSON of Paddle happen. "ts" is cut to whole microseconds, in which two short operators may
// begin; "start_time" of "args" says how long after the first event that was, with three decimals of a float of 32
// bits: exact for the first 16 ms, to 60 ns after a second.
//
//   {"name": "matmul[3.817 us]", "ts": 1795216468769843, "dur": 3.817, "args": {"start_time": "639.125 us", ...}}
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Spans begin where "start_time" says, within the microsecond that "ts" says; events of memory, which have "ts" alone,
// lie in the middle of theirs. Nothing changes where the two disagree by more than what was cut: then another
// program has put the file together. REQUIRES: all is added, and the spans have what is left of "args" as `extra`.
void GivePaddleTimes(TraceBuilder* builder);

}  // namespace opscope

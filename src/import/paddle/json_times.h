// Exact times for events of Paddle's JSON. "ts" is truncated to whole microseconds, in which two short operators may
// begin. "start_time" in "args" is the time since the first event, with three decimals of a 32-bit float: exact for the
// first 16 ms, and to 60 ns after one second.
//
//   {"name": "matmul[3.817 us]", "ts": 1795216468769843, "dur": 3.817, "args": {"start_time": "639.125 us", ...}}
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Moves the begin of each span to its "start_time", within the microsecond of its "ts". Memory events, which only have
// "ts", move to the middle of their microsecond. Changes nothing if the two times disagree by more than a microsecond:
// then another program has changed the file. REQUIRES: all rows were added, and `extra` of the spans has the other
// "args".
void GivePaddleTimes(TraceBuilder* builder);

}  // namespace opscope

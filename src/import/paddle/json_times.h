// When the events of a JSON of Paddle happen. "ts" is cut to whole microseconds, in which two short operators may
// begin; "start_time" of "args" has the nanoseconds, since a moment that the file does not tell:
//
//   {"name": "matmul[3.817 us]", "ts": 1795216468769843, "dur": 3.817, "args": {"start_time": "639.125 us", ...}}
//
// That moment is known to some nanoseconds by all events together: none begins before its "ts".
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/builder.h"

namespace opscope {

// Spans begin where "start_time" says; events of memory, which have "ts" alone, lie in the middle of their microsecond.
// Nothing changes where the two disagree by more than what was cut: then somebody else has put the file together.
// REQUIRES: all is added, and the spans have what is left of "args" as `extra`.
void GivePaddleTimes(TraceBuilder* builder);

}  // namespace opscope

// The time to record one event on this machine, measured by the recorder itself: it runs its own hot
// path on a stream that belongs to no window, a few thousand events, once per process. The numbers go
// into every recording (kWindowInfo, "own_cost") so that reports can take the cost off again
// (include/opscope/analysis/overhead.h says how).
//
//   a scope:   begin            clock | inside | clock            end
//              |<-- begin_ns ------------->|<------------- end_ns -->|
//
// begin_ns and end_ns are everything that the program waits for; inside_ns is the part of both that
// lies between the two clock reads and so lengthens the scope itself. The rest lengthens what is around it.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace opscope {

// Measures before and after `between`, unless that was done, or is being done by another thread; a fifth of a
// millisecond each. The lower figures count: other work on the machine comes in bursts that are shorter than
// what is to be done between. REQUIRES: the calling thread has its Thread, signals are blocked (a handler that jumps
// away would leave it half done).
void CalibrateOverhead(void (*between)());

// `"scope":{...},"point":{...}`; nothing while it was not measured.
void AppendOverhead(std::string* out);

}  // namespace opscope

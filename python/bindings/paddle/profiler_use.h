// Whether Paddle says that a profiler is used, in the variable that its own code asks.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope::python {

// 1, 0; -1: an exception is set. 0 before set_record_event.
int IsProfilerUsed();

}  // namespace opscope::python

// Reads Paddle's own flag that says whether a profiler is in use.
//
// Thread rule: with the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace opscope::python {

// 1: yes, 0: no, -1: failed with a Python exception set. 0 before set_record_event.
int IsProfilerUsed();

}  // namespace opscope::python

// The calls of Python among the spans, once these have their final rows and parents: the caller of each call, and the
// calls around each operator.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trace/storage.h"

namespace opscope {

// Numbers the spans of category python_function by start and fills the table python_calls. The module id is the
// suffix of a module call's name ("nn.Module: Linear_3"). fill_stacks: every span without a stack gets the calls
// around it as its stack. O(n), and O(c log c) for c calls on several threads.
void NumberPythonCalls(TraceStorage* storage, bool fill_stacks);

}  // namespace opscope

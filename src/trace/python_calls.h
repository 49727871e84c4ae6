// The calls of Python among the spans, once these have their final rows and parents: who called whom, and which calls
// stand around an operator.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "trace/storage.h"

namespace opscope {

// Numbers the spans of category python_function by start and fills their table. Module ids are read off the
// names of calls of modules ("nn.Module: Linear_3"). fill_stacks: every span without a stack gets the calls around it.
// O(n), and O(c log c) for c calls on several threads.
void NumberPythonCalls(TraceStorage* storage, bool fill_stacks);

// Turns numbers of addition into final rows (empty: they are the same) and orders the rows by span.
void SortPythonCalls(std::span<const uint32_t> final_row, PythonCallTable* calls);

}  // namespace opscope

// Which arguments an operator takes and which of them it writes, for readers that have no torch: noted by name while
// recording, looked up once at the end, because what a name may mean is every overload that is registered under it.
//
// Thread rule: any thread. Note takes memory once per operator of a process, then looks at one table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>

#include <string>

namespace opscope {

// Throws nothing: what there is no memory for is counted as a failure.
void NoteOperator(const c10::FunctionSchema* schema);

// For kOperatorsKey (opscope/window_facts.h). May throw std::bad_alloc.
std::string KindsOfNotedOperators();

}  // namespace opscope

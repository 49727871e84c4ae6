// Signatures of the recorded operators: the types of their arguments, and which arguments they write. The memory
// timeline distinguishes inputs and outputs by them, and a reader of the recording may have no torch. The process
// collects the names of operators; at the end of a recording every overload of each name is looked up in torch's
// registry.
//
// Thread rule: any thread. RecordOperator allocates once per operator and process; later calls only read a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>

#include <string>

namespace opscope {

// Does not throw: if memory for a name runs out, it counts a failure.
void RecordOperator(const c10::FunctionSchema* schema);

// The value of kOperatorsKey (opscope/window_facts.h). May throw std::bad_alloc.
std::string RecordedOperatorSignatures();

}  // namespace opscope

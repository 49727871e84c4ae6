// Signatures of the recorded operators: which arguments each takes and which of them it writes. The memory timeline
// needs them to tell inputs from outputs, and a reader of the recording may have no torch. The recording collects
// operator names; at its end it looks up every overload of each name in torch's registry, once.
//
// Thread rule: any thread. RecordOperator allocates once per operator and process, later calls only look into a table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>

#include <string>

namespace opscope {

// Throws nothing: without memory for a name it counts a failure.
void RecordOperator(const c10::FunctionSchema* schema);

// The value of kOperatorsKey (opscope/window_facts.h). May throw std::bad_alloc.
std::string RecordedOperatorSignatures();

}  // namespace opscope

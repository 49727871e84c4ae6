// Converts the inputs of a node of a PyTorch execution trace to the argument list that Kineto would print for the call.
//
//   values  [[6, 7, 0, 12, 4, "cpu"], [3, 4], 1.0, false, "<None>"]     a tensor is [tensor, storage, offset, elements,
//   shapes  [[3, 4], [[], []], [], [], []]                               bytes of one, device]
//   types   ["Tensor(float)", "GenericList[Int,Int]", "Double", "Bool", "None"]
//   strides [[4, 1], [[], []], [], [], []]                               schema 1.1.1 on
//
// Thread rule: one thread at a time per builder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace opscope {

// JSON arrays as written in the file, "" for a missing one.
struct ExecutionTraceInputs {
  std::string_view values, shapes, types, strides;
};

struct ExecutionTraceArguments {
  bool whole = false;  // the lists have the same length; otherwise there are no arguments
  ArgsId args = ArgsId::kNone;
  std::vector<TensorRow> tensors;  // the tensors of the arguments, in order; `span` is not set
};

ExecutionTraceArguments ReadExecutionTraceArguments(const ExecutionTraceInputs& inputs, TraceBuilder* builder);

}  // namespace opscope

// The inputs of a node of a PyTorch execution trace as an argument list: what Kineto would print for the same call.
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

// JSON arrays as they stand in the file, "" for one that is not there.
struct ExecutionTraceInputs {
  std::string_view values, shapes, types, strides;
};

struct ExecutionTraceArguments {
  bool whole = false;  // the lists fit each other; else there are no arguments
  ArgsId args = ArgsId::kNone;
  std::vector<TensorRow> tensors;  // those of the arguments in their order; without a span
};

ExecutionTraceArguments ReadExecutionTraceArguments(const ExecutionTraceInputs& inputs, TraceBuilder* builder);

}  // namespace opscope

// Chooses the recorded call that `opscope reproduce` writes a script for. Calls of
// operators are grouped by name, overload and arguments; the group that took most
// time is chosen. docs/reference/analyses.md has the rules.
//
//   const std::vector<uint8_t> selected = filter.Select(trace);
//   const Result<RecordedCall> call = ChooseCall(trace, &selected);
//   if (call.ok()) WriteText("repro.py", ReproduceScript(trace, call.value(), "run.opscope"));
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Where the tensors of a call were.
enum class CallDevice : uint8_t { kUnknown, kCpu, kCuda };

// Calls of one operator with equal arguments. Times are nanoseconds, children
// included.
struct RecordedCall {
  // "aten::sum".
  StringId name = StringId::kEmpty;
  // "dim_IntList"; kNone: not recorded.
  StringId overload = StringId::kNone;
  // kNone: the calls have no arguments, or none were recorded.
  ArgsId args = ArgsId::kNone;
  // The first of the calls, by row.
  SpanId first = SpanId::kNone;
  uint64_t calls = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  // Nearest rank: the smallest duration that at least half of the calls do not exceed.
  int64_t p50_ns = 0;
  int64_t max_ns = 0;
  CallDevice device = CallDevice::kUnknown;
  // Spans of devices that the calls, or what they called, launched.
  uint64_t device_spans = 0;
  // The sum of their durations.
  int64_t device_ns = 0;
  // Further groups of operators among the chosen spans, and their calls.
  uint64_t other_groups = 0;
  uint64_t other_calls = 0;
};

// True if the name can be that of an operator of torch: "aten::mm", "my_library::my_op".
// Autograd nodes ("MulBackward0", "torch::autograd::AccumulateGrad") are not operators.
[[nodiscard]] bool IsOperatorName(std::string_view name);

// The group of calls that took most time, of those with arguments if any has some;
// between equals the first by row. Unfinished spans do not count. `selected`: one
// entry per span (SpanFilter::Select), 1 counts; nullptr: all spans count.
//
// kInvalidArgument: no chosen span is an operator; the message says what they are.
// O(spans + launches log calls).
[[nodiscard]] Result<RecordedCall> ChooseCall(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope

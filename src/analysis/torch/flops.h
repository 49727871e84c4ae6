// Floating-point operations of spans (flop_formulas.h) such that sums count no work twice.
//
// A call for which torch.profiler has a formula always counts, as it does there. A call with only an opscope formula
// counts unless it lies inside a counted call or encloses one (mul and add excepted): aten::linear counts if it is one
// kernel, and leaves the FLOPs to aten::addmm if it calls that. O(spans).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/torch/function_events.h"
#include "opscope/trace.h"

namespace opscope {

enum class FlopRuleSet : uint8_t { kAll, kOnlyTorch };

// FLOPs per span; empty if no call has any.
std::vector<int64_t> FlopsOfSpans(const Trace& trace, FlopRuleSet rules = FlopRuleSet::kAll);
// FLOPs per event of the list.
std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events, FlopRuleSet rules);

}  // namespace opscope

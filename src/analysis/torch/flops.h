// Floating-point operations of spans (flop_formulas.h), so that sums count no work twice.
//
// A call that torch.profiler has a formula for always counts, as it does there. A call that only opscope
// has one for counts unless it lies inside a call that counts (but for mul and add), or encloses one:
// aten::linear counts where it is one kernel, and leaves the number to aten::addmm where it calls that.
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

// One number per span; empty when no op of the trace has a formula.
std::vector<int64_t> FlopsOfSpans(const Trace& trace, FlopRuleSet rules = FlopRuleSet::kAll);
// One number per event of the list.
std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events, FlopRuleSet rules);

}  // namespace opscope

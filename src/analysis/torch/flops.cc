// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flops.h"

#include "analysis/torch/flop_calls.h"

namespace opscope {

std::vector<int64_t> FlopsOfSpans(const Trace& trace, FlopRuleSet set) {
  const FlopCalls calls = FindFlopCalls(trace, set);
  if (calls.whole.empty() && calls.element_wise.empty()) return {};
  std::vector<int64_t> flops(trace.spans().size(), 0);
  for (const auto* list : {&calls.whole, &calls.element_wise}) {
    for (const FlopCall& call : *list)
      flops[call.row] = call.flops;
  }
  return flops;
}

std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events, FlopRuleSet rules) {
  const std::vector<int64_t> of_span = FlopsOfSpans(trace, rules);
  std::vector<int64_t> flops(events.size(), 0);
  if (of_span.empty()) return flops;
  for (size_t i = 0; i < events.size(); ++i)
    if (events.span[i] != SpanId::kNone) flops[i] = of_span[Row(events.span[i])];
  return flops;
}

}  // namespace opscope

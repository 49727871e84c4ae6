// Evaluates formulas for all spans in one pass; rows are in pre-order, so the innermost enclosing call of each is its
// parent's. Double counts among nested calls are then removed (flop_calls.h).
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flops.h"

#include "analysis/torch/flop_calls.h"

namespace opscope {

std::vector<int64_t> FlopsOfSpans(const Trace& trace, FlopRuleSet set) {
  const SpanColumns& spans = trace.spans();
  const FlopNames names(trace, set);
  if (!names.any()) return {};
  std::vector<int64_t> flops(spans.size(), 0);
  std::vector<uint32_t> innermost(spans.size(), FlopCall::kNone);  // by span: innermost whole call, itself included
  std::vector<FlopCall> whole;
  CallFlops calls(trace);
  for (size_t row = 0; row < spans.size(); ++row) {
    if (spans.parent[row] != SpanId::kNone) innermost[row] = innermost[Row(spans.parent[row])];
    const FlopRule* rule = names.Of(spans.name[row]);
    if (rule == nullptr) continue;
    flops[row] = calls.Of(*rule, spans.name[row], spans.args[row]);
    if (flops[row] == 0 || !IsWhole(*rule)) continue;
    whole.push_back({static_cast<uint32_t>(row), innermost[row], rule->kind == FlopKind::kOwn, flops[row]});
    innermost[row] = static_cast<uint32_t>(row);
  }
  RemoveDoubleCounts(&whole);
  for (const FlopCall& call : whole)
    flops[call.row] = call.flops;
  return flops;
}

std::vector<int64_t> FlopsOfEvents(const Trace& trace, const FunctionEvents& events, FlopRuleSet rules) {
  const std::vector<int64_t> of_span = FlopsOfSpans(trace, rules);
  std::vector<int64_t> flops(events.size(), 0);
  if (of_span.empty()) return flops;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events.span[i] != SpanId::kNone) flops[i] = of_span[Row(events.span[i])];
  }
  return flops;
}

}  // namespace opscope

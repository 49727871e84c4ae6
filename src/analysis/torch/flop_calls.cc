// Finds the calls that have a FLOP formula and removes double counts among nested ones: aten::linear calls aten::addmm,
// and both have a formula. torch's formulas always count. An own formula counts unless it lies inside a counted call or
// encloses one of torch's; one pass upwards marks the enclosing calls, one pass downwards the enclosed ones.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/flop_calls.h"

#include <algorithm>

namespace opscope {
namespace {

// Index in `calls` of each call's `around`; kNone if it has none. Calls are in pre-order, so the chain of enclosing
// calls starts at the preceding call.
std::vector<uint32_t> PlacesAround(const std::vector<FlopCall>& calls) {
  std::vector<uint32_t> places(calls.size(), FlopCall::kNone);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].around == FlopCall::kNone) continue;
    auto place = static_cast<uint32_t>(i - 1);
    while (calls[place].row != calls[i].around)
      place = places[place];
    places[i] = place;
  }
  return places;
}

}  // namespace

FlopNames::FlopNames(const Trace& trace, FlopRuleSet set) {
  if (trace.argument_list_count() == 0) return;
  for (const FlopRule& rule : FlopRules()) {
    if (set == FlopRuleSet::kOnlyTorch && rule.kind == FlopKind::kOwn) continue;
    const auto name = trace.FindString(rule.op);
    if (!name || *name == StringId::kNone) continue;
    if (Row(*name) >= rules_.size()) rules_.resize(size_t{Row(*name)} + 1, nullptr);
    rules_[Row(*name)] = &rule;
  }
}

int64_t CallFlops::Of(const FlopRule& rule, StringId name, ArgsId args) {
  if (args == ArgsId::kNone) return 0;
  Known& known = known_[(Row(name) * 31 + Row(args)) % known_.size()];
  if (known.name != name || known.args != args) {
    const uint64_t flops = rule.formula(trace_.arguments(args), trace_);
    known = {name, args, static_cast<int64_t>(std::min<uint64_t>(flops, INT64_MAX))};
  }
  return known.flops;
}

// The pass upwards marks calls that enclose torch's formulas, the pass downwards calls inside a counted one.
void RemoveDoubleCounts(std::vector<FlopCall>* calls) {
  if (std::none_of(calls->begin(), calls->end(), [](const FlopCall& call) { return call.is_own; })) return;
  const std::vector<uint32_t> around = PlacesAround(*calls);
  enum : uint8_t { kFree, kEnclosesTorch, kCounts };
  std::vector<uint8_t> state(calls->size(), kFree);
  for (size_t i = calls->size(); i-- > 0;) {
    if (around[i] == FlopCall::kNone) continue;
    if (!(*calls)[i].is_own || state[i] == kEnclosesTorch) state[around[i]] = kEnclosesTorch;
  }
  for (size_t i = 0; i < calls->size(); ++i) {
    FlopCall& call = (*calls)[i];
    const bool lies_inside = around[i] != FlopCall::kNone && state[around[i]] == kCounts;
    if (call.is_own && (lies_inside || state[i] == kEnclosesTorch)) call.flops = 0;
    state[i] = lies_inside || call.flops != 0 ? kCounts : kFree;
  }
}

FlopCalls FindFlopCalls(const Trace& trace, FlopRuleSet set) {
  FlopCalls found;
  const FlopNames names(trace, set);
  if (!names.any()) return found;
  const SpanColumns& spans = trace.spans();
  CallFlops calls(trace);
  std::vector<uint32_t> open;  // whole calls around the row, from the outside
  for (size_t row = 0; row < spans.size(); ++row) {
    // Rows are in pre-order: those of a call's subtree follow it, and their parents are not before it.
    const SpanId parent = spans.parent[row];
    while (!open.empty() && (parent == SpanId::kNone || Row(parent) < open.back()))
      open.pop_back();
    const FlopRule* rule = names.Of(spans.name[row]);
    if (rule == nullptr) continue;
    FlopCall call{.row = static_cast<uint32_t>(row), .flops = calls.Of(*rule, spans.name[row], spans.args[row])};
    if (call.flops == 0) continue;
    if (!IsWhole(*rule)) {
      found.element_wise.push_back(call);
      continue;
    }
    call.around = open.empty() ? FlopCall::kNone : open.back();
    call.is_own = rule->kind == FlopKind::kOwn;
    found.whole.push_back(call);
    open.push_back(call.row);
  }
  RemoveDoubleCounts(&found.whole);
  return found;
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "analysis/flops.h"

#include <tsl/robin_map.h>

#include "analysis/flop_formulas.h"

namespace opscope {
namespace {

// The rule of each name of a trace.
class RulesByName {
 public:
  RulesByName(const Trace& trace, FlopRuleSet set) : rules_(trace.string_count(), nullptr) {
    for (const FlopRule& rule : FlopRules()) {
      if (set == FlopRuleSet::kOnlyTorch && rule.kind == FlopKind::kOwn) continue;
      const auto name = trace.FindString(rule.op);
      if (!name || *name == StringId::kNone) continue;
      rules_[Row(*name)] = &rule;
      any_ = true;
    }
  }
  bool any() const { return any_; }
  const FlopRule* Of(StringId name) const { return name == StringId::kNone ? nullptr : rules_[Row(name)]; }

 private:
  std::vector<const FlopRule*> rules_;
  bool any_ = false;
};

// The number of a call follows from its name and its arguments, which many calls share.
class CallFlops {
 public:
  explicit CallFlops(const Trace& trace) : trace_(trace) {}

  int64_t Of(const FlopRule& rule, StringId name, ArgsId args) {
    if (args == ArgsId::kNone) return 0;
    const uint64_t key = uint64_t{Row(name)} << 32 | Row(args);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const auto flops = static_cast<int64_t>(rule.formula(trace_.arguments(args), trace_));
    known_.emplace(key, flops);
    return flops;
  }

 private:
  const Trace& trace_;
  tsl::robin_map<uint64_t, int64_t> known_;
};

bool IsWhole(const FlopRule* rule) {
  return rule != nullptr && (rule->kind == FlopKind::kTorch || rule->kind == FlopKind::kOwn);
}

// Takes out what is counted by another call. Spans lie in pre-order, so a parent comes before its
// children: one pass up finds what encloses torch's formulas, one pass down what lies inside a call that counts.
void CountNothingTwice(const SpanColumns& spans, const RulesByName& rules, std::vector<int64_t>* flops) {
  enum : uint8_t { kFree, kEnclosesTorch, kCounts };
  std::vector<uint8_t> state(spans.size(), kFree);
  for (size_t row = spans.size(); row-- > 0;) {
    const FlopRule* rule = rules.Of(spans.name[row]);
    const bool is_torch = rule != nullptr && rule->kind == FlopKind::kTorch && (*flops)[row] != 0;
    const SpanId parent = spans.parent[row];
    if ((is_torch || state[row] == kEnclosesTorch) && parent != SpanId::kNone) state[Row(parent)] = kEnclosesTorch;
  }
  for (size_t row = 0; row < spans.size(); ++row) {
    const FlopRule* rule = rules.Of(spans.name[row]);
    const SpanId parent = spans.parent[row];
    const bool lies_inside = parent != SpanId::kNone && state[Row(parent)] == kCounts;
    const bool is_own = rule != nullptr && rule->kind == FlopKind::kOwn;
    if (is_own && (lies_inside || state[row] == kEnclosesTorch)) (*flops)[row] = 0;
    if (lies_inside || (IsWhole(rule) && (*flops)[row] != 0)) state[row] = kCounts;
  }
}

}  // namespace

std::vector<int64_t> FlopsOfSpans(const Trace& trace, FlopRuleSet set) {
  const SpanColumns& spans = trace.spans();
  const RulesByName rules(trace, set);
  if (!rules.any() || trace.argument_list_count() == 0) return {};
  std::vector<int64_t> flops(spans.size(), 0);
  CallFlops calls(trace);
  for (size_t row = 0; row < spans.size(); ++row) {
    const FlopRule* rule = rules.Of(spans.name[row]);
    if (rule != nullptr) flops[row] = calls.Of(*rule, spans.name[row], spans.args[row]);
  }
  CountNothingTwice(spans, rules, &flops);
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

// Which steps a condition leaves room for. Spans of a step share its number and its rank, and begin about when it does;
// every other field of theirs is unknown. So the condition is evaluated for the step in three-valued logic: each node
// may hold, may fail, or both.
//
//   step >= 3 and name ~ conv     step 2: the first part fails, so the whole does; step 3: it may hold
//   not (step = 3 and name = a)   every step may hold: in step 3 there may be spans of another name
//
// To ask instead whether a selected span lies in the step would leave out steps in which an operator does not run.
// Means over steps must count those as 0.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analysis/span_filter_compare.h"
#include "analysis/steps_of_ranks.h"
#include "opscope/analysis/span_filter.h"

namespace opscope {
namespace {

struct Possible {
  bool holds = true, fails = true;
};

struct StepFacts {
  int64_t number, rank, start;
};

Possible EvaluateForStep(const SpanFilter::Node& node, const StepFacts& step) {
  const auto known = [&](int64_t value) { return Possible{HoldsFor(value, node), !HoldsFor(value, node)}; };
  if (node.field == FilterField::kStep) return known(step.number);
  if (node.field == FilterField::kRank) return known(step.rank);
  if (node.field == FilterField::kStart) return known(step.start);
  return {};
}

}  // namespace

std::vector<uint8_t> SpanFilter::SelectSteps(const Trace& trace) const {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  std::vector<uint8_t> selected(steps.size(), 0);
  if (steps.size() == 0 || spans.size() == 0) return selected;
  const Timestamp first = *std::min_element(spans.start.begin(), spans.start.end());
  std::vector<Possible> results(nodes_.size());
  for (size_t row = 0; row < steps.size(); ++row) {
    if (steps.span[row] == SpanId::kNone) continue;
    const uint32_t span = Row(steps.span[row]);
    const StepFacts step{steps.number[row], RankOfTrack(trace, spans.track[span]), (spans.start[span] - first).ns};
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const Possible left = results[node.left], right = results[node.right];
      switch (node.op) {
        case FilterOperator::kAnd:
          results[i] = {left.holds && right.holds, left.fails || right.fails};
          break;
        case FilterOperator::kOr:
          results[i] = {left.holds || right.holds, left.fails && right.fails};
          break;
        case FilterOperator::kNot:
          results[i] = {left.fails, left.holds};
          break;
        default:
          results[i] = EvaluateForStep(node, step);
      }
    }
    selected[row] = results.back().holds ? 1 : 0;
  }
  return selected;
}

}  // namespace opscope

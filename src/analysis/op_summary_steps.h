// The operator summary with the self times of its rows divided by steps, for comparing runs step by step.
//
//   const StepsOfRanks steps(trace);
//   const OpSummaryOfSteps ops = SummarizeOpsBySteps(trace, steps);
//   for (const StepSelf& part : ops.step_self)
//     Print(ops.summary.rows[part.group].name, trace.steps().number[part.step], part.self_ns);
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/steps_of_ranks.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/trace.h"

namespace opscope {

// The self time of the spans of one row that begin in one step.
struct StepSelf {
  uint32_t group = 0;  // row of the summary
  uint32_t step = 0;   // row of `steps`
  int64_t self_ns = 0;
};

struct OpSummaryOfSteps {
  OpSummary summary;                // percentiles and standard deviations are 0: not computed
  std::vector<StepSelf> step_self;  // by row, then step; pairs without time are absent
};

// O(spans), and O(n log n) in pairs of a row and a step. `chunk_size`: for tests; 0: the default.
[[nodiscard]] OpSummaryOfSteps SummarizeOpsBySteps(const Trace& trace, const StepsOfRanks& steps,
                                                   const OpSummaryOptions& options = {}, size_t chunk_size = 0);

}  // namespace opscope

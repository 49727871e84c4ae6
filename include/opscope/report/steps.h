// The steps of a trace as tables of results: the output of `opscope steps`. docs/reference/results.md lists the
// columns.
//
//   const StepReport report = MeasureSteps(trace);
//   Print(StepTimesTable(trace, report).Text());
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/steps.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// The columns of the two tables below, for help texts and references.
[[nodiscard]] const ResultDescription& StepTimesResult();
[[nodiscard]] const ResultDescription& StepDurationsResult();

// A row per step, and one row of statistics over all steps. `trace`: the one that was measured.
[[nodiscard]] ResultTable StepTimesTable(const Trace& trace, const StepReport& report);
[[nodiscard]] ResultTable StepDurationsTable(const Trace& trace, const StepReport& report);

// Both tables. Text has the statistics below the steps.
[[nodiscard]] VerbResult StepsVerbResult(const Trace& trace, const StepReport& report);

}  // namespace opscope

// The steps of a trace as tables of results. docs/reference/results.md lists the columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/steps.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

[[nodiscard]] const ResultDescription& StepTimesResult();
[[nodiscard]] const ResultDescription& StepDurationsResult();

// A row per step; the one row of statistics. `trace`: the one that was measured.
[[nodiscard]] ResultTable StepTimesTable(const Trace& trace, const StepReport& report);
[[nodiscard]] ResultTable StepDurationsTable(const Trace& trace, const StepReport& report);

// Both. Text has the statistics below the steps.
[[nodiscard]] VerbResult StepsVerbResult(const Trace& trace, const StepReport& report);

}  // namespace opscope

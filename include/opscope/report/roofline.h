// The roofline of operators as tables of results. docs/reference/results.md lists the columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/roofline.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

[[nodiscard]] const ResultDescription& RooflineResult();
[[nodiscard]] const ResultDescription& RooflineMachineResult();

// A row per operator, shapes and type; the one row about the machine. `trace`: the one that was measured.
[[nodiscard]] ResultTable RooflineTable(const Trace& trace, const RooflineReport& report);
[[nodiscard]] ResultTable RooflineMachineTable(const Trace& trace, const RooflineReport& report);

// Both. Text has the operators alone, and a line about how much of the time is covered.
[[nodiscard]] VerbResult RooflineVerbResult(const Trace& trace, const RooflineReport& report);

}  // namespace opscope

// A comparison of runs as tables of results. docs/reference/results.md lists the columns.
//
//   std::string table = DiffTable(DiffTraces(before, after)).Text();
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/diff.h"
#include "opscope/report/result_table.h"

namespace opscope {

[[nodiscard]] const ResultDescription& DiffResult();
[[nodiscard]] const ResultDescription& DiffStepsResult();
[[nodiscard]] const ResultDescription& DiffMemoryResult();

// A row per key. It has the column of the key ("shape", "module", "step") that was compared by.
[[nodiscard]] ResultTable DiffTable(const TraceDiff& diff);
// One row: the durations of steps.
[[nodiscard]] ResultTable DiffStepsTable(const TraceDiff& diff);
// A row per device.
[[nodiscard]] ResultTable DiffMemoryTable(const TraceDiff& diff);

// The three as `opscope diff` prints them, and a line that counts the rows by status.
[[nodiscard]] VerbResult DiffVerbResult(const TraceDiff& diff);

}  // namespace opscope

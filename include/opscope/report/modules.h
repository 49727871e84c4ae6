// Modules as a table of results: the output of `opscope modules`. docs/reference/results.md lists the columns.
//
//   const ModuleSummary summary = SummarizeModules(trace);
//   Print(ModuleTable(trace, summary).Text());
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/modules.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// The columns of ModuleTable.
[[nodiscard]] const ResultDescription& ModuleResult();

// A row per module in the order of the program; the first is the whole program. `trace`: the one that was summarized.
// is_tree: text indents a module by its depth. Pass false before Sort: a sorted row needs its whole path.
[[nodiscard]] ResultTable ModuleTable(const Trace& trace, const ModuleSummary& summary, bool is_tree = true);

}  // namespace opscope

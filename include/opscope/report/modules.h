// Modules as a table of results. docs/reference/results.md lists the columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/modules.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

[[nodiscard]] const ResultDescription& ModuleResult();

// A row per module in the order of the program; the first is the whole program. In text a module is indented by its
// depth where `is_tree`, else it has its path, as rows that will be sorted need. `trace`: the one that was summarized.
[[nodiscard]] ResultTable ModuleTable(const Trace& trace, const ModuleSummary& summary, bool is_tree = true);

}  // namespace opscope

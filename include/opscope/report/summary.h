// The operator summary as a table of results. docs/reference/results.md lists the columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/async_summary.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/overhead.h"
#include "opscope/report/result_table.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct SummaryTableOptions {
  bool flop_rate = false;  // text has a column FLOP/s, where operators have FLOPs
  double peak_flops = 0;   // of the machine, per second: text has a column with the share of it; 0: no such column
};

[[nodiscard]] const ResultDescription& SummaryResult();
[[nodiscard]] const ResultDescription& AsyncSummaryResult();

// Of the keys of --group-by the table has those that the summary has. `trace`: the one that was summarized.
[[nodiscard]] ResultTable SummaryTable(const Trace& trace, const OpSummary& summary,
                                       const SummaryTableOptions& options = {});
[[nodiscard]] ResultTable AsyncSummaryTable(const Trace& trace, const std::vector<AsyncSummaryRow>& rows);

// Both, and what a correction took off the times, as `opscope summary` prints them.
[[nodiscard]] VerbResult SummaryVerbResult(const Trace& trace, const OpSummary& summary,
                                           const std::vector<AsyncSummaryRow>& async_rows = {},
                                           const SummaryTableOptions& options = {});

// Sorts the rows of a summary as ResultTable::Sort does those of its table. kInvalidArgument names the keys.
[[nodiscard]] Status SortOpSummary(const Trace& trace, OpSummary* summary, std::string_view key);

// One line about corrected times: what was taken off, and how many spans came out below 0.
[[nodiscard]] std::string FormatCorrection(const Correction& correction);

}  // namespace opscope

// The operator summary as a table of results: the output of `opscope summary`. docs/reference/results.md lists the
// columns.
//
//   const OpSummary summary = SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kShape}});
//   ResultTable table = SummaryTable(trace, summary);
//   OPSCOPE_TRY(table.Sort("self"));
//   Print(table.Text(20));   // the first 20 rows
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

// Columns of the text table that need a request.
struct SummaryTableOptions {
  // Show a column FLOP/s, if operators have FLOPs.
  bool flop_rate = false;
  // FLOPs per second that the machine can reach. Shows FLOP/s and each row's share of this peak; 0: unknown, neither
  // column is shown for it.
  double peak_flops = 0;
};

// The columns of the two tables below, for help texts and references.
[[nodiscard]] const ResultDescription& SummaryResult();
[[nodiscard]] const ResultDescription& AsyncSummaryResult();

// A row per row of the summary. The table has a column for each group key of the summary. `trace`: the one that was
// summarized.
[[nodiscard]] ResultTable SummaryTable(const Trace& trace, const OpSummary& summary,
                                       const SummaryTableOptions& options = {});
// A row per name of asynchronous spans, which the summary does not have.
[[nodiscard]] ResultTable AsyncSummaryTable(const Trace& trace, const std::vector<AsyncSummaryRow>& rows);

// Both tables, and what a correction took off the times. Without asynchronous rows the second table is absent.
[[nodiscard]] VerbResult SummaryVerbResult(const Trace& trace, const OpSummary& summary,
                                           const std::vector<AsyncSummaryRow>& async_rows = {},
                                           const SummaryTableOptions& options = {});

// Sorts the rows of a summary as ResultTable::Sort sorts those of its table, for callers that read the rows
// themselves. kInvalidArgument: there is no such key; the message names the keys.
[[nodiscard]] Status SortOpSummary(const Trace& trace, OpSummary* summary, std::string_view key);

// One line about corrected times: what was taken off, and how many spans came out below 0.
[[nodiscard]] std::string FormatCorrection(const Correction& correction);

}  // namespace opscope

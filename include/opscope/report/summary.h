// The summary of operators as text, JSON and CSV.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "opscope/analysis/async_summary.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/own_cost.h"
#include "opscope/analysis/quality.h"
#include "opscope/trace.h"

namespace opscope {

struct SummaryTableOptions {
  size_t limit = 0;        // rows; 0: all
  size_t width = 0;        // of the terminal, in columns; 0: any
  bool flop_rate = false;  // a column FLOP/s, where ops have FLOPs
  double peak_flops = 0;   // of the machine, per second: a column with the share of it; 0: none
  std::string sort = {};   // the field that the rows were sorted by: a narrow terminal keeps it; "": none
};
// Without rows there is no table.
[[nodiscard]] std::string FormatSummaryTable(const Trace& trace, const OpSummary& summary,
                                             const SummaryTableOptions& options = {});
// "opscope.summary/1", with "async_rows" where there are some. limit 0: all rows.
[[nodiscard]] std::string SummaryJson(const Trace& trace, const OpSummary& summary, const Quality& quality,
                                      size_t limit = 0, const std::vector<AsyncSummaryRow>& async_rows = {});
[[nodiscard]] std::string SummaryCsv(const Trace& trace, const OpSummary& summary, size_t limit = 0);

// A table of its own. Without rows there is none.
[[nodiscard]] std::string FormatAsyncSummaryTable(const Trace& trace, const std::vector<AsyncSummaryRow>& rows,
                                                  size_t limit = 0, size_t width = 0);

// One line about corrected times: what was taken off, and how many spans came out below 0.
[[nodiscard]] std::string FormatCorrection(const Correction& correction);

}  // namespace opscope

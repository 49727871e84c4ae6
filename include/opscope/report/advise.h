// Advice as tables of results and in sentences: the output of `opscope advise`. docs/reference/results.md lists the
// columns.
//
//   const Advice advice = Advise(trace);
//   for (const Finding& finding : advice.findings)
//     Print(FindingMessage(trace, advice, finding));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/analysis/advise.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// The columns of AdviceTable.
[[nodiscard]] const ResultDescription& AdviceResult();
// The columns of EvidenceTable: in JSON a list within each row of the former.
[[nodiscard]] const ResultDescription& EvidenceResult();

// What a finding means and what to do, in one or two sentences.
[[nodiscard]] std::string FindingMessage(const Trace& trace, const Advice& advice, const Finding& finding);

// A row per finding; a row per evidence, finding by finding.
[[nodiscard]] ResultTable AdviceTable(const Trace& trace, const Advice& advice);
[[nodiscard]] ResultTable EvidenceTable(const Trace& trace, const Advice& advice);

// JSON has the evidence within the findings; text has the messages below the table, or "nothing found".
[[nodiscard]] VerbResult AdviseVerbResult(const Trace& trace, const Advice& advice);

}  // namespace opscope

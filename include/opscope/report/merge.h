// What a merge did, as text, JSON and a table: the output of `opscope merge`. docs/reference/results.md lists the
// columns.
//
//   const Result<Merged> merged = MergeTraces(std::move(inputs), {});
//   if (merged.ok()) Print(FormatMerge(merged.value()));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "opscope/analysis/quality.h"
#include "opscope/merge.h"
#include "opscope/report/result_table.h"

namespace opscope {

// The document "opscope.merge/1", and MergeTable() as text with notes below it. width: columns of the terminal, 0: any.
[[nodiscard]] std::string MergeJson(const Merged& merged, const Quality& quality);
[[nodiscard]] std::string FormatMerge(const Merged& merged, size_t width = 0);

// The columns of MergeTable, and of the list of processes that JSON has in each row.
[[nodiscard]] const ResultDescription& MergeResult();
[[nodiscard]] const ResultDescription& MergedProcessResult();
// A row per input: which rank it is, and how its clock was aligned.
[[nodiscard]] ResultTable MergeTable(const Merged& merged);

}  // namespace opscope

// Parts of the summary of asynchronous spans, for joining the rows of several traces.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/analysis/async_summary.h"
#include "opscope/trace.h"

namespace opscope {

// One row per name, in order of first appearance. O(asynchronous spans + texts)
[[nodiscard]] std::vector<AsyncSummaryRow> AsyncRowsInOrder(const Trace& trace);
// Adds the spans of `other` to those of `row`. REQUIRES: both have spans.
void AddAsyncRow(const AsyncSummaryRow& other, AsyncSummaryRow* row);
// Longest total first; equal ones stay in their order.
void SortAsyncRows(std::vector<AsyncSummaryRow>* rows);

}  // namespace opscope

// Groups asynchronous spans ("b" and "e" of Chrome traces) by name. They belong to
// no thread's stack, so they have no self time and no row in the operator summary.
//
//   for (const AsyncSummaryRow& row : SummarizeAsyncSpans(trace))
//     Print(trace.text(row.name), row.count, row.mean_ns());
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// All asynchronous spans of one name. Times in nanoseconds.
struct AsyncSummaryRow {
  StringId name = StringId::kEmpty;
  // Number of spans, at least 1.
  uint64_t count = 0;
  // Sum of the durations, overlaps included; saturates at 2^63 - 1.
  int64_t total_ns = 0;
  // Shortest duration.
  int64_t min_ns = 0;
  // Longest duration.
  int64_t max_ns = 0;
  // Mean duration, rounded down.
  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / static_cast<int64_t>(count); }
};

// One row per name: longest total first, ties in order of first appearance. O(n +
// names log names) in asynchronous spans, and a table of four bytes per string.
[[nodiscard]] std::vector<AsyncSummaryRow> SummarizeAsyncSpans(const Trace& trace);

}  // namespace opscope

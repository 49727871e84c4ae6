// Asynchronous spans ("b" and "e" of Chrome traces) grouped by name. They belong to no thread's stack, so they have no
// self time and lie in no row of the operator summary.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct AsyncSummaryRow {
  StringId name = StringId::kEmpty;
  uint64_t count = 0;
  int64_t total_ns = 0;  // plain sum, at most 2^63 - 1
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t mean_ns() const { return count == 0 ? 0 : total_ns / static_cast<int64_t>(count); }
};

// Longest total first, equal ones in order of first appearance.
[[nodiscard]] std::vector<AsyncSummaryRow> SummarizeAsyncSpans(const Trace& trace);

}  // namespace opscope

// The operator summary with all durations of its rows instead of their quantiles, for joining the rows of several
// traces: quantiles of parts do not add up.
//
//   const OpSummaryWithDurations ops = SummarizeOpsWithDurations(trace, options);
//   for (size_t row = 0; row < ops.summary.rows.size(); ++row)
//     Use(ops.summary.rows[row], ops.durations.OfRow(row));
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/trace.h"

namespace opscope {

struct GroupDurations {
  Column<int64_t> ns;            // those of a row side by side, in the order of its spans
  std::vector<uint64_t> begins;  // by row: index of its first duration; and the end of the last row

  std::span<const int64_t> OfRow(size_t row) const {
    return {ns.data() + begins[row], static_cast<size_t>(begins[row + 1] - begins[row])};
  }
};

struct OpSummaryWithDurations {
  OpSummary summary;  // percentiles and standard deviations are 0: not computed
  GroupDurations durations;
};

// REQUIRES: options.max_key_bytes == 0.
[[nodiscard]] OpSummaryWithDurations SummarizeOpsWithDurations(const Trace& trace, const OpSummaryOptions& options);

}  // namespace opscope

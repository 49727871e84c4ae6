// Sums the spans of a range of time by name: what the program did between two
// moments. docs/reference/view_server.md defines each number.
//
//   for (const SelectedName& row : SelectRange(trace, 50, 80)) Print(trace.text(row.name), row.self_ns);
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The spans of one name that overlap the range.
struct SelectedName {
  StringId name = StringId::kEmpty;
  // Number of these spans, at least 1.
  uint64_t count = 0;
  // Sum of the parts of their durations that lie inside the range, in nanoseconds.
  // Spans within a span of the same name count too.
  int64_t total_with_recursion_ns = 0;
  // Sum of the parts of their self times that lie inside the range.
  int64_t self_ns = 0;
};

// The spans of all tracks that overlap [begin_ns, end_ns), nanoseconds since the
// trace's epoch. A span of length 0 counts if it begins in the range. Ordered by
// total, largest first, then by the bytes of the name. An empty range gives no rows.
//
// max_threads: as OpSummaryOptions; does not change the result. O(spans).
[[nodiscard]] std::vector<SelectedName> SelectRange(const Trace& trace, int64_t begin_ns, int64_t end_ns,
                                                    uint32_t max_threads = 0);

}  // namespace opscope

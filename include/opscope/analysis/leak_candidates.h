// Groups the allocations that may be leaks: those that were made after the first step
// and never freed within the recording. docs/reference/memory.md, "Leak candidates", has
// the rules.
//
//   for (const LeakCandidateRow& row : FindLeakCandidates(trace))
//     Print(trace.text(row.name), row.bytes, row.steps);
//
// Thread rule: pure function of an immutable Trace; the result is a plain value.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// The candidates of one device, operator and call stack.
struct LeakCandidateRow {
  MemoryPlace place;
  // Name of the innermost host span. kNone: no host span was open.
  StringId name = StringId::kNone;
  // Where the program asked for the memory; kNone: not recorded.
  StackId stack = StackId::kNone;
  // Number of allocations, and the sum of their sizes.
  uint64_t allocations = 0;
  int64_t bytes = 0;
  // Number of steps in which they were made; 0 outside of all steps.
  uint64_t steps = 0;
};

// By descending bytes, then by descending number of allocations, then by device, name and
// stack. O(n log n) in allocations.
[[nodiscard]] std::vector<LeakCandidateRow> FindLeakCandidates(const Trace& trace);

}  // namespace opscope

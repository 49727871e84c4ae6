// Finds requests that an allocator could not serve: torch's "[OutOfMemory]" events,
// which a Trace has as instants.
//
//   for (const OutOfMemory& failed : FindOutOfMemory(trace))
//     Print(trace.instants().time[failed.instant], failed.bytes);
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// One failed request.
struct OutOfMemory {
  // Its row of instants().
  uint32_t instant = 0;
  // Bytes that the program requested.
  int64_t bytes = 0;
  // As in AllocationColumns; the CPU's if the instant names none.
  int32_t device_type = 0, device = -1;
};
// Reads one. REQUIRES: the instant is such a request.
[[nodiscard]] OutOfMemory ReadOutOfMemory(const Trace& trace, uint32_t instant);
// All of a trace, in the order of the instants. O(instants).
[[nodiscard]] std::vector<OutOfMemory> FindOutOfMemory(const Trace& trace);

}  // namespace opscope

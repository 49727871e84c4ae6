// Requests that an allocator had no memory for: torch's "[OutOfMemory]", instants of a Trace.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Numbers as in AllocationColumns; those of the CPU where the instant says none.
struct OutOfMemory {
  uint32_t instant = 0;  // its row of instants()
  int64_t bytes = 0;     // that were asked for
  int32_t device_type = 0, device = -1;
};
[[nodiscard]] OutOfMemory ReadOutOfMemory(const Trace& trace, uint32_t instant);
// In the order of the instants. O(instants).
[[nodiscard]] std::vector<OutOfMemory> FindOutOfMemory(const Trace& trace);

}  // namespace opscope

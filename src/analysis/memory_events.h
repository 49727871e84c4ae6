// The rows of `allocations` by device.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// The events of each device in order of time; those of equal time in the order of rows. O(n); O(n log n) if times fall.
[[nodiscard]] std::map<MemoryPlace, std::vector<uint32_t>> MemoryEventsByPlace(const Trace& trace);

}  // namespace opscope

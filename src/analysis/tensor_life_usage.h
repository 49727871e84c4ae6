// The memory of each device where a trace has lives of tensors instead of allocations (MegEngine).
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/trace.h"

namespace opscope {

// Both as for MeasureMemoryUsage; docs/reference/memory.md, "Lives of tensors". O(n log n) in lives, O(spans).
[[nodiscard]] MemoryUsage MeasureTensorLifeUsage(const Trace& trace, const std::vector<uint8_t>* selected);

}  // namespace opscope

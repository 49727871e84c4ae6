// The largest level of allocated memory of each device. docs/reference/diff.md has the definition.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "opscope/trace.h"

namespace opscope {

// A device of a rank, as allocations name it.
struct MemoryDevice {
  int32_t rank = -1;        // -1: unknown
  int32_t device_type = 0;  // torch's DeviceType
  int32_t device = -1;
  auto operator<=>(const MemoryDevice&) const = default;
};

// The peak in bytes of each device that has allocations or frees. O(allocations), O(n log n) if they are not in order.
[[nodiscard]] std::map<MemoryDevice, int64_t> MeasureMemoryPeaks(const Trace& trace);

}  // namespace opscope

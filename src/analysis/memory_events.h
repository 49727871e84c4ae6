// The events of memory by device.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/torch/memory_timeline.h"
#include "opscope/trace.h"

namespace opscope {

// The events of each device in order of time; those of equal time in the order of rows. O(n); O(n log n) if times fall.
[[nodiscard]] std::map<MemoryPlace, std::vector<uint32_t>> MemoryEventsByPlace(const Trace& trace);

// True if a device has events of several ranks. The memory timeline, which knows no ranks, mixes them.
[[nodiscard]] bool HasDeviceOfSeveralRanks(const std::map<MemoryPlace, std::vector<uint32_t>>& events);

// By type and number of a device.
using RowsByDevice = std::map<std::pair<int32_t, int32_t>, std::vector<uint32_t>>;
// The rows of the timeline, in their order. O(n log devices).
[[nodiscard]] RowsByDevice TimelineRowsByDevice(const MemoryTimeline& timeline);

}  // namespace opscope

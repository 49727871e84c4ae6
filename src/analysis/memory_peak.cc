// The level of a device begins with what the first event says was allocated before it, and then follows the events:
//
//   +100 (allocator says 300)   +50   -100   -120        start 200; levels 300, 350, 250, 130; peak 350
//
// Later totals of the allocator are not used. They would make the level jump where the recording lost an event, and
// then neither the sum of the events nor their difference would be the level.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory_peak.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/steps_of_ranks.h"
#include "base/saturating.h"

namespace opscope {
namespace {

struct MemoryLevel {
  int64_t level = 0, peak = 0;
};

// The rows of `allocations` by time; rows of equal time in the order of the file.
std::vector<uint32_t> AllocationsByTime(const AllocationColumns& allocations) {
  std::vector<uint32_t> rows(allocations.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto is_before = [&](uint32_t a, uint32_t b) { return allocations.time[a].ns < allocations.time[b].ns; };
  if (!std::is_sorted(rows.begin(), rows.end(), is_before)) std::stable_sort(rows.begin(), rows.end(), is_before);
  return rows;
}

}  // namespace

std::map<MemoryDevice, int64_t> MeasureMemoryPeaks(const Trace& trace) {
  const AllocationColumns& allocations = trace.allocations();
  std::map<MemoryDevice, MemoryLevel> levels;
  for (const uint32_t row : AllocationsByTime(allocations)) {
    const TrackId track = allocations.track[row];
    const MemoryDevice device{track == TrackId::kNone ? -1 : RankOfTrack(trace, track), allocations.device_type[row],
                              allocations.device[row]};
    const auto [found, is_first] = levels.try_emplace(device);
    MemoryLevel& memory = found->second;
    const int64_t bytes = allocations.bytes[row], total = allocations.total_allocated[row];
    if (is_first && total >= 0) memory.level = memory.peak = SaturatingSubtract(total, bytes);
    memory.level = SaturatingAdd(memory.level, bytes);
    memory.peak = std::max(memory.peak, memory.level);
  }
  std::map<MemoryDevice, int64_t> peaks;
  for (const auto& [device, memory] : levels)
    peaks[device] = memory.peak;
  return peaks;
}

}  // namespace opscope

// Memory that each step leaves behind. The first rises are those of the allocator's caches and of the optimizer's
// state, so the growth is the median of the later ones; one large rise, such as that of a checkpoint, does not move it:
//
//   level at the ends of steps   100  180  190  200  190  210      rises  80 | 10  10  -10  20      median 10
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "analysis/advise/causes.h"
#include "base/saturating.h"
#include "opscope/analysis/memory_usage.h"

namespace opscope::advise {
namespace {

constexpr size_t kFewestRises = 3;

struct Rise {
  int64_t bytes = 0;
  int64_t number = 0;  // of the step at whose end the level is higher
};

// nullopt: the memory of the device does not grow steadily.
std::optional<int64_t> MedianGrowth(const std::vector<Rise>& rises, int64_t peak_bytes) {
  if (rises.size() < kFewestRises) return std::nullopt;
  std::vector<int64_t> bytes;
  bytes.reserve(rises.size());
  for (const Rise& rise : rises)
    bytes.push_back(rise.bytes);
  const auto above = static_cast<size_t>(std::count_if(bytes.begin(), bytes.end(), [](int64_t b) { return b > 0; }));
  if (above * 10 < rises.size() * 8) return std::nullopt;
  const auto median = bytes.begin() + static_cast<std::ptrdiff_t>((bytes.size() - 1) / 2);
  std::nth_element(bytes.begin(), median, bytes.end());
  const int64_t least = peak_bytes / 100 + (peak_bytes % 100 > 0 ? 1 : 0);  // 1 %, rounded up
  if (*median <= 0 || *median < least) return std::nullopt;
  return *median;
}

// The rises of each device from one step end to the next, without the first.
std::map<MemoryPlace, std::vector<Rise>> RisesOf(const MemoryUsage& usage) {
  std::map<MemoryPlace, std::vector<Rise>> rises;
  for (size_t i = 1; i < usage.steps.size(); ++i) {
    const StepMemoryRow &before = usage.steps[i - 1], &step = usage.steps[i];
    if (before.place != step.place) continue;
    const bool is_first = i == 1 || usage.steps[i - 2].place != step.place;
    if (!is_first) rises[step.place].push_back({SaturatingSubtract(step.end_bytes, before.end_bytes), step.number});
  }
  return rises;
}

}  // namespace

std::optional<Finding> FindMemoryGrowth(const Job& job) {
  if (!job.has_real_steps() || !HasMemoryEvents(job.trace)) return std::nullopt;
  const MemoryUsage usage = MeasureMemoryUsage(job.trace, job.selected);
  std::map<MemoryPlace, int64_t> peaks;
  for (const DeviceMemoryRow& device : usage.devices)
    peaks[device.place] = device.peak_bytes;
  std::optional<Finding> most;
  for (const auto& [place, rises] : RisesOf(usage)) {
    const std::optional<int64_t> growth = MedianGrowth(rises, peaks[place]);
    if (!growth || (most && most->bytes_per_step >= growth)) continue;
    Finding finding{.kind = FindingKind::kMemoryGrowth,
                    .saving_ns = 0,
                    .bytes_per_step = growth,
                    .confidence = Confidence::kHigh,
                    .count = 0,
                    .evidence = {}};
    const auto rank = std::find_if(job.ranks.begin(), job.ranks.end(),
                                   [&](const RankActivity& each) { return each.rank == place.rank; });
    for (const Rise& rise : rises) {
      if (rise.bytes <= 0) {
        finding.confidence = Confidence::kMedium;
        continue;
      }
      ++finding.count;
      if (rank == job.ranks.end() || finding.evidence.size() == Finding::kMaxEvidence) continue;
      const auto step = std::find_if(rank->steps.begin(), rank->steps.end(),
                                     [&](const RankStep& each) { return each.number == rise.number; });
      if (step == rank->steps.end()) continue;
      finding.evidence.push_back({place.rank, step->track, StringId::kEmpty, step->time.begin, step->time.end});
    }
    most = std::move(finding);
  }
  return most;
}

}  // namespace opscope::advise

// Causes that show as idle time of the devices of a rank, all streams taken together. Idle time after a wait belongs to
// sync_points; idle time in which the host had not launched the next work, and which no other cause explains, to
// launch_bound:
//
//   host    launch   launch   |--- aten::item ---|   launch
//   device    |-- gemm --|-- gemm --| . . . idle . . . |-- gemm --|      idle: sync_points, not launch_bound
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/advise/causes.h"
#include "analysis/device_gaps.h"
#include "base/saturating.h"
#include "opscope/analysis/devices.h"

namespace opscope::advise {
namespace {

// Finds the idle time behind the end of the last work for which a span waited.
class WaitFinder {
 public:
  WaitFinder(const RankActivity& rank, const std::vector<DeviceGap>& gaps) : rank_(rank), gaps_(gaps) {
    ends_.reserve(rank.works.size());
    for (const LaunchedWork& work : rank.works)
      ends_.push_back(work.work.end);
    std::sort(ends_.begin(), ends_.end());
  }

  // nullptr: the span waited for no work, or with its step, or the device went on working.
  const DeviceGap* GapAfter(const NamedSpan& wait) const {
    const std::optional<size_t> step = rank_.StepAt(wait.time.begin);
    if (!step || rank_.steps[*step].time.end <= wait.time.end) return nullptr;
    const auto after = std::upper_bound(ends_.begin(), ends_.end(), wait.time.end);
    if (after == ends_.begin() || *std::prev(after) <= wait.time.begin) return nullptr;
    const int64_t end = *std::prev(after);
    const auto gap = std::lower_bound(gaps_.begin(), gaps_.end(), end,
                                      [](const DeviceGap& each, int64_t time) { return each.begin < time; });
    return gap != gaps_.end() && gap->begin == end ? &*gap : nullptr;
  }

 private:
  const RankActivity& rank_;
  const std::vector<DeviceGap>& gaps_;
  std::vector<int64_t> ends_;
};

}  // namespace

std::vector<Cause> FindDeviceCauses(const Job& job) {
  Cause sync_points(FindingKind::kSyncPoints, Confidence::kHigh, job.steps);
  Cause launch_bound(FindingKind::kLaunchBound, Confidence::kMedium, job.steps);
  Cause copies(FindingKind::kHostDeviceCopies, Confidence::kMedium, job.steps);
  for (const RankActivity& rank : job.ranks) {
    const std::vector<DeviceGap> gaps = FindGaps(rank.works, DeviceOptions().kernel_gap_ns);
    const WaitFinder waits(rank, gaps);
    std::vector<Interval> after_waits, host_waits;
    OutermostSpans outermost(job.trace);
    for (const NamedSpan& wait : rank.waits) {
      const DeviceGap* gap = waits.GapAfter(wait);
      if (gap == nullptr) continue;
      after_waits.push_back({gap->begin, gap->end});
      if (outermost.Add(wait)) sync_points.AddEvidence(job.trace, rank.rank, wait);
    }
    const IntervalSet idle_after_waits(std::move(after_waits));
    sync_points.AddSavings(rank, idle_after_waits);

    const IntervalSet waits_for_input = TimesOf(rank.inputs).Minus(rank.all_works);
    const IntervalSet explained = Union(Union(idle_after_waits, waits_for_input),
                                        Union(TimesOf(rank.recompiles), TimesOf(rank.device_allocations)));
    for (const DeviceGap& gap : gaps) {
      if (gap.cause != GapCause::kHostWait) continue;
      host_waits.push_back({gap.begin, gap.end});
      const bool is_explained = explained.LengthIn(gap.begin, gap.end) == SaturatingSubtract(gap.end, gap.begin);
      if (is_explained || !rank.StepAt(gap.begin)) continue;
      launch_bound.AddEvidence(job.trace, rank.rank, {rank.works[gap.next].span, {gap.begin, gap.end}});
    }
    launch_bound.AddSavings(rank, IntervalSet(std::move(host_waits)).Minus(explained));

    copies.AddSavings(rank, TimesOf(rank.host_device_copies).Minus(rank.kernels));
    for (const NamedSpan& copy : rank.host_device_copies) {
      const bool is_hidden = rank.kernels.LengthIn(copy.time.begin, copy.time.end) == copy.time.end - copy.time.begin;
      if (!is_hidden && rank.StepAt(copy.time.begin)) copies.AddEvidence(job.trace, rank.rank, copy);
    }
  }
  return {sync_points, launch_bound, copies};
}

Cause FindSmallOps(const Job& job) {
  Cause small_ops(FindingKind::kSmallOps, Confidence::kMedium, job.steps);
  for (const RankActivity& rank : job.ranks) {
    for (const PointwiseRun& run : rank.runs) {
      small_ops.AddSaving(rank.first_step + run.step, run.saving_ns());
      small_ops.AddEvidence(job.trace, rank.rank, {run.first, run.time});
    }
  }
  return small_ops;
}

}  // namespace opscope::advise

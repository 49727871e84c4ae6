// Timers are windows without an end of their own. Kinds that only other windows need are disabled when those end.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "opscope/cuda_source.h"
#include "sources/cuda/cupti_session.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;

constexpr std::chrono::milliseconds kForTimes{2000};

std::set<ActivityKind> KindsOf(uint32_t flags) {
  using namespace cuda_timer_flags;
  std::set<ActivityKind> kinds;
  if ((flags & kKernels) != 0) kinds.insert(ActivityKind::kConcurrentKernel);
  // CUPTI writes copies between devices only if this kind is enabled too.
  if ((flags & (kCopies | kPeerCopies)) != 0) kinds.insert(ActivityKind::kMemcpy);
  if ((flags & kPeerCopies) != 0) kinds.insert(ActivityKind::kMemcpy2);
  if ((flags & kSets) != 0) kinds.insert(ActivityKind::kMemset);
  // CUPTI writes the ids of regions only if calls are enabled too.
  if ((flags & kRegions) != 0) kinds.insert({ActivityKind::kExternalCorrelation, ActivityKind::kRuntime});
  return kinds;
}

}  // namespace

std::string CuptiSession::EnableTimed(uint32_t flags) {
  for (const ActivityKind kind : KindsOf(flags)) {
    const Result answer = Enable(kind);
    if (answer != Result::kSuccess) return library_->DescribeFailure(answer, "cuptiActivityEnable");
  }
  return {};
}

std::vector<ActivityKind> CuptiSession::KindsOfNoTimer() const {
  std::set<ActivityKind> timed;
  for (const uint32_t flags : timers_)
    timed.merge(KindsOf(flags));
  std::vector<ActivityKind> others;
  for (const ActivityKind kind : enabled_) {
    if (!timed.contains(kind)) others.push_back(kind);
  }
  return others;
}

void CuptiSession::Flush() {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForTimes);
  if (!mutex_.try_lock_until(deadline)) return;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (!has_collector()) return;
  const auto dropped = std::make_shared<size_t>(0);
  const bool counts = open_ == timers_.size();  // else the end of another window counts them
  const bool is_over = RunBefore(deadline, [library = library_, dropped, counts] {
    library->call.ActivityFlushAll(0);
    if (counts) library->call.ActivityGetNumDroppedRecords(nullptr, 0, dropped.get());
  });
  if (!is_over) return;
  collector_->Drain(deadline);
  if (*dropped == 0) return;
  collector_->ForEachOpen(deadline, [&](DeviceWindow* open) { open->problems().dropped += *dropped; });
}

NodeTimes CuptiSession::TakeTimes(DeviceWindow* window) {
  NodeTimes taken(0);
  if (is_forked_.load()) return taken;
  const Deadline deadline = After(kForTimes);
  if (!mutex_.try_lock_until(deadline)) return taken;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (!has_collector()) return taken;
  collector_->Visit(deadline, [&] { taken = window->TakeTimes(); });
  return taken;
}

}  // namespace opscope::cuda

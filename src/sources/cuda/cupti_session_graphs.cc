// Watches the construction of graphs, also between windows: the subscription stays while WatchGraphs has callers.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <string>

#include "opscope/cuda_source.h"
#include "sources/cuda/cupti_errors.h"
#include "sources/cuda/cupti_session.h"
#include "sources/cuda/graph_recorder.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::Result;

constexpr std::chrono::milliseconds kForWatching{4000};

Result SwitchCallbacks(const CuptiFunctions& call, cupti::Subscriber subscriber, bool on) {
  for (const cupti::ResourceCallback callback : GraphRecorder::kCallbacks) {
    const Result answer =
        call.EnableCallback(on ? 1 : 0, subscriber, cupti::CallbackDomain::kResource, static_cast<uint32_t>(callback));
    if (answer != Result::kSuccess) return answer;
  }
  return Result::kSuccess;
}

}  // namespace

std::string CuptiSession::WatchGraphs() {
  if (is_forked_.load()) return WhyNot(kForked);
  if (!library_->is_usable()) return library_->why_not;
  const CuptiFunctions& call = library_->call;
  if (call.EnableCallback == nullptr || call.GetGraphNodeId == nullptr) {
    return "CUDA is not recorded: CUPTI is too old (it tells nothing of the nodes of graphs)";
  }
  const Deadline deadline = After(kForWatching);
  if (!mutex_.try_lock_until(deadline)) return WhyNot(kInUse);
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (watchers_ > 0) return ++watchers_, "";
  if (!Settle(deadline)) return WhyNot(kNoAnswer);
  has_used_.store(true);
  const auto why = std::make_shared<std::string>();
  const bool has_answered = RunCall(deadline, [this, why, is_open = open_ > 0] {
    mutex_.AssertHeld();
    *why = Subscribe();
    if (!why->empty()) return;
    // Another tool is subscribed and records nothing: kernels can be recorded beside it, but callbacks cannot.
    if (subscriber_ == nullptr) {
      *why = library_->DescribeFailure(Result::kMultipleSubscribersNotSupported, "cuptiSubscribe");
      return;
    }
    const Result answer = SwitchCallbacks(library_->call, subscriber_, true);
    if (answer != Result::kSuccess) *why = library_->DescribeFailure(answer, "cuptiEnableCallback");
    if (why->empty() || is_open) return;
    library_->call.Unsubscribe(subscriber_);
    subscriber_ = nullptr;
  });
  if (!has_answered) return WhyNot(kNoAnswer);
  if (!why->empty()) return *why;
  ++watchers_;
  if (open_ > timers_.size()) GraphRecorder::Get().KeepDestroyed();
  return {};
}

void CuptiSession::LeaveGraphs() {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForWatching);
  if (!mutex_.try_lock_until(deadline)) return;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (watchers_ == 0 || --watchers_ > 0) return;
  if (!Settle(deadline)) return;
  RunCall(deadline, [this, is_open = open_ > 0] {
    mutex_.AssertHeld();
    if (subscriber_ == nullptr) return;
    SwitchCallbacks(library_->call, subscriber_, false);
    if (is_open || library_->call.Unsubscribe == nullptr) return;
    if (library_->call.Unsubscribe(subscriber_) == Result::kSuccess) subscriber_ = nullptr;
  });
  GraphRecorder::Get().Clear();
}

// Timers are excluded: a timer that never ends would keep the nodes of all destroyed graphs.
void CuptiSession::ReportGraphs(DeviceWindow* window, Deadline deadline) {
  if (watchers_ == 0 || window->is_timer()) return;
  const KnownGraphs known = GraphRecorder::Get().TakeKnown(open_ - timers_.size() == 1);
  collector_->Visit(deadline, [&] { window->WriteGraphs(known); });
}

}  // namespace opscope::cuda

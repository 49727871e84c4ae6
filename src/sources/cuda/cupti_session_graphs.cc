// The making of graphs is watched, also between windows: CUPTI stays subscribed to while anybody asks for it.
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
  if (is_forked_.load()) return opscope::cuda::WhyNot(kForked, "", "");
  if (!library_->is_usable()) return library_->why_not;
  const CuptiFunctions& call = library_->call;
  if (call.EnableCallback == nullptr || call.GetGraphNodeId == nullptr) {
    return "CUDA is not recorded: CUPTI is too old (it tells nothing of the nodes of graphs)";
  }
  const Deadline deadline = std::chrono::steady_clock::now() + kForWatching;
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return opscope::cuda::WhyNot(kInUse, "", "");
  if (watchers_ > 0) return ++watchers_, "";
  if (!Settle(deadline)) return "CUDA is not recorded: CUPTI does not answer";
  has_used_.store(true);
  const auto why = std::make_shared<std::string>();
  const bool has_answered = RunBefore(deadline, [this, why] {
    *why = Subscribe();
    if (!why->empty()) return;
    // Another tool is subscribed and records nothing: kernels can be recorded beside it, but callbacks cannot.
    if (subscriber_ == nullptr) {
      *why = Why(Result::kMultipleSubscribersNotSupported, "cuptiSubscribe");
      return;
    }
    const Result answer = SwitchCallbacks(library_->call, subscriber_, true);
    if (answer != Result::kSuccess) *why = Why(answer, "cuptiEnableCallback");
    if (why->empty() || open_ > 0) return;
    library_->call.Unsubscribe(subscriber_);
    subscriber_ = nullptr;
  });
  if (!has_answered) return "CUDA is not recorded: CUPTI does not answer";
  if (why->empty()) ++watchers_;
  return *why;
}

void CuptiSession::LeaveGraphs() {
  if (is_forked_.load()) return;
  const Deadline deadline = std::chrono::steady_clock::now() + kForWatching;
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock() || watchers_ == 0 || --watchers_ > 0) return;
  if (!Settle(deadline)) return;
  RunBefore(deadline, [this] {
    if (subscriber_ == nullptr) return;
    SwitchCallbacks(library_->call, subscriber_, false);
    if (open_ > 0 || library_->call.Unsubscribe == nullptr) return;
    if (library_->call.Unsubscribe(subscriber_) == Result::kSuccess) subscriber_ = nullptr;
  });
  GraphRecorder::Get().Clear();
}

void CuptiSession::ReportGraphs(DeviceWindow* window, Deadline deadline) {
  if (watchers_ == 0) return;
  const KnownGraphs known = GraphRecorder::Get().TakeKnown(open_ == 1);
  collector_->Visit(deadline, [&] { window->WriteGraphs(known); });
}

}  // namespace opscope::cuda

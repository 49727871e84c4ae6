// Opening CUPTI: subscription, callbacks and kinds. These calls may hang when the driver does, but a start must return.
// So they run on a separate thread (RunCall), and the session is not used until they have returned.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_session.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "opscope/cuda_source.h"
#include "sources/cuda/cupti_errors.h"
#include "sources/cuda/device_readings.h"
#include "sources/cuda/graph_recorder.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;
using std::chrono::milliseconds;

constexpr milliseconds kForStart{4000};

// Optional kinds: a recording goes on without those that CUPTI refuses.
constexpr ActivityKind kKinds[] = {ActivityKind::kMemcpy,  ActivityKind::kMemcpy2, ActivityKind::kMemset,
                                   ActivityKind::kRuntime, ActivityKind::kDriver,  ActivityKind::kOverhead,
                                   ActivityKind::kContext, ActivityKind::kStream};

std::atomic<CuptiSession*> session_in_use{nullptr};  // null: Get was never called

}  // namespace

CuptiSession& CuptiSession::Get() {
  static CuptiSession& session = *[] {
    auto* made = new CuptiSession(&LoadedCupti());
    session_in_use.store(made);
    return made;
  }();
  return session;
}

CuptiSession* CuptiSession::GetIfUsed() {
  return session_in_use.load();
}

// Another tool has subscribed. Newer versions of CUPTI can say whether it records.
std::string CuptiSession::InUse() {
  const std::string in_use = library_->DescribeFailure(Result::kMultipleSubscribersNotSupported, "cuptiSubscribe");
  if (library_->call.ActivityGetEnabledKinds != nullptr) {
    uint32_t kinds = 0;
    const Result answer = library_->call.ActivityGetEnabledKinds(nullptr, nullptr, nullptr, &kinds);
    return answer == Result::kSuccess && kinds == 0 ? "" : in_use;
  }
  return torch_profiled_.load() ? "" : in_use;
}

std::string CuptiSession::Subscribe() {
  if (subscriber_ != nullptr) return {};  // an earlier unsubscription failed
  const CuptiFunctions& call = library_->call;
  Result answer = Result::kSuccess;
  if (call.Subscribe_v2 != nullptr) {
    cupti::SubscriberParams params{};
    params.struct_size = offsetof(cupti::SubscriberParams, allow_multiple_subscribers);
    params.subscriber_name = "opscope";
    answer = call.Subscribe_v2(&subscriber_, &GraphRecorder::OnCallback, nullptr, &params);
  } else if (call.Subscribe != nullptr) {
    answer = call.Subscribe(&subscriber_, &GraphRecorder::OnCallback, nullptr);
  } else {
    return {};
  }
  if (answer == Result::kSuccess) return {};
  subscriber_ = nullptr;
  return answer == Result::kMultipleSubscribersNotSupported ? InUse()
                                                            : library_->DescribeFailure(answer, "cuptiSubscribe");
}

Result CuptiSession::Enable(ActivityKind kind) {
  if (enabled_.contains(kind)) return Result::kSuccess;
  const Result answer = library_->call.ActivityEnable(kind);
  if (answer == Result::kSuccess) enabled_.insert(kind);
  return answer;
}

std::string CuptiSession::EnableKinds(uint32_t flags) {
  if ((flags & cuda_timer_flags::kTimes) != 0) return EnableTimed(flags);
  const Result answer = Enable(ActivityKind::kConcurrentKernel);
  if (answer != Result::kSuccess) return library_->DescribeFailure(answer, "cuptiActivityEnable");
  for (const ActivityKind kind : kKinds)
    Enable(kind);
  EnableRequested(flags);
  const bool is_new = !enabled_.contains(ActivityKind::kDevice);
  if (is_new && library_->call.ActivityEnableAndDump != nullptr &&
      library_->call.ActivityEnableAndDump(ActivityKind::kDevice) == Result::kSuccess) {
    enabled_.insert(ActivityKind::kDevice);
  }
  return {};
}

void CuptiSession::EnableRequested(uint32_t flags) {
  using namespace cuda_source_flags;
  if ((flags & kSynchronization) != 0) Enable(ActivityKind::kSynchronization);
  if ((flags & (kSynchronization | kEventNodes)) != 0 && Enable(ActivityKind::kCudaEvent) == Result::kSuccess &&
      library_->call.ActivityEnableCudaEventDeviceTimestamps != nullptr) {
    library_->call.ActivityEnableCudaEventDeviceTimestamps(1);
  }
  if ((flags & kMemory) != 0) Enable(ActivityKind::kMemory2);
  if ((flags & kGraphs) != 0) Enable(ActivityKind::kGraphTrace);
  refused_.clear();
  if ((flags & kEnvironment) != 0) EnableOrReport(ActivityKind::kEnvironment, "environment");
  if ((flags & kHostNodes) != 0) EnableOrReport(ActivityKind::kGraphHostNode, "host nodes of graphs");
}

// An older library is not called with a kind that it does not know.
void CuptiSession::EnableOrReport(ActivityKind kind, std::string_view what) {
  const bool has_kind = kind != ActivityKind::kGraphHostNode || library_->version >= cupti::GraphHostNode::kSince;
  const Result answer = has_kind ? Enable(kind) : Result::kInvalidKind;
  if (answer == Result::kSuccess) return;
  std::string& text = refused_.emplace_back("cuptiActivityEnable (");
  text.append(what).append("): ").append(has_kind ? library_->NameOf(answer) : "this CUPTI is older than 13.1");
}

cupti::Subscriber CuptiSession::TakeSubscriber() {
  return watchers_ > 0 ? nullptr : std::exchange(subscriber_, nullptr);
}

std::string CuptiSession::Open(bool is_first, uint32_t flags) {
  if (is_first) {
    has_used_.store(true);
    if (std::string why = Subscribe(); !why.empty()) return why;
    const Result answer =
        library_->call.ActivityRegisterCallbacks(&Collector::RequestBuffer, &Collector::CompleteBuffer);
    if (answer != Result::kSuccess) return library_->DescribeFailure(answer, "cuptiActivityRegisterCallbacks");
    if (library_->call.SetThreadIdType != nullptr) library_->call.SetThreadIdType(cupti::ThreadIdType::kSystem);
  }
  return EnableKinds(flags);
}

bool CuptiSession::RunCall(Deadline deadline, std::function<void()> call) {
  const auto is_over = std::make_shared<std::atomic<bool>>(false);
  call_ = is_over;
  // Destroyed with the call: after the call has returned, or unrun if no thread could be started.
  std::shared_ptr<void> end(nullptr, [is_over](void*) { is_over->store(true); });
  const bool has_returned = RunBefore(deadline, [call = std::move(call), end = std::move(end)] { call(); });
  if (has_returned) call_ = nullptr;
  return has_returned;
}

bool CuptiSession::WaitForCall(Deadline deadline) {
  if (call_ != nullptr && !WaitUntilSet(*call_, deadline)) return false;
  call_ = nullptr;
  return true;
}

std::string CuptiSession::Begin(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return WhyNot(kForked);
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  if (!mutex_.try_lock_until(deadline)) return WhyNot(kInUse);
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (!Settle(deadline)) return WhyNot(kNoAnswer);
  if (!has_collector()) {
    collector_ = new Collector(library_);
    collector_->Install();
    is_collector_stuck_ = false;
  }
  if (!collector_->Start()) return "CUDA is not recorded: cannot start a thread";
  if (open_ == 0) {
    collector_->pool()->Prepare(2, BufferPool::kDefaultCap);
    lost_buffers_ = collector_->pool()->with_cupti();
  }
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunCall(deadline, [this, answer, is_first = open_ == 0, flags = window->flags()] {
    mutex_.AssertHeld();
    *answer = Open(is_first, flags);
  });
  std::string why = has_answered ? *answer : WhyNot(kNoAnswer);
  if (why.empty() && !collector_->Add(window, ReadClockPair(), deadline)) why = WhyNot(kNoAnswer);
  if (why.empty()) {
    ++open_;
    DeviceReadings::Get().Begin(collector_);
    if (window->is_timer()) timers_.insert(window->flags());
    if (const auto refused = std::exchange(refused_, {}); !refused.empty()) {
      collector_->Visit(deadline, [&] {
        for (const std::string& text : refused)
          ++window->problems().failed_calls[text];
      });
    }
    if (watchers_ > 0 && !window->is_timer()) GraphRecorder::Get().KeepDestroyed();
  } else if (open_ == 0 && has_answered) {
    CloseAfterRefusal(deadline);
  }
  return why;
}

std::string CuptiSession::CheckAvailable() {
  if (is_forked_.load()) return WhyNot(kForked);
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  if (!mutex_.try_lock_until(deadline)) return WhyNot(kInUse);
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (open_ > 0) return {};
  if (!Settle(deadline)) return WhyNot(kNoAnswer);
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunCall(deadline, [this, answer, is_watched = watchers_ > 0] {
    mutex_.AssertHeld();
    has_used_.store(true);
    *answer = Subscribe();
    if (!answer->empty()) return;
    const Result enabled = library_->call.ActivityEnable(ActivityKind::kConcurrentKernel);
    if (enabled != Result::kSuccess) *answer = library_->DescribeFailure(enabled, "cuptiActivityEnable");
    if (enabled == Result::kSuccess) library_->call.ActivityDisable(ActivityKind::kConcurrentKernel);
    if (is_watched || subscriber_ == nullptr || library_->call.Unsubscribe == nullptr) return;
    if (library_->call.Unsubscribe(subscriber_) == Result::kSuccess) subscriber_ = nullptr;
  });
  return has_answered ? *answer : WhyNot(kNoAnswer);
}

}  // namespace opscope::cuda

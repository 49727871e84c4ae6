// Opening and closing CUPTI. The calls that close it may hang when the driver does, and a stop must return all the
// same: they run on a thread of their own (timed_calls.h), in CUPTI's order, and the session waits for them for at most
// five seconds. A close that has not finished by then is kept (unsettled_) and is checked again at the next begin.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/cupti_session.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "base/mutex.h"
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

// Stop has five seconds in all, whichever of its calls hangs.
constexpr milliseconds kForAll{4300}, kForStart{4000}, kForLate{500}, kForUnsettled{500};

// Kinds that one may be without.
constexpr ActivityKind kKinds[] = {ActivityKind::kMemcpy,  ActivityKind::kMemcpy2, ActivityKind::kMemset,
                                   ActivityKind::kRuntime, ActivityKind::kDriver,  ActivityKind::kOverhead,
                                   ActivityKind::kContext, ActivityKind::kStream};

Deadline After(milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

constexpr std::string_view kNoAnswer = "CUDA is not recorded: CUPTI does not answer";

std::atomic<CuptiSession*> the_one{nullptr};

}  // namespace

// The calls that close a window, in CUPTI's order, for a thread of their own: any of them may hang.
struct CuptiSession::Closing {
  std::vector<ActivityKind> kinds;  // to disable, then the records are torn out: all, or what no timer needs
  cupti::Subscriber subscriber = nullptr;
  bool is_last = false;
  bool has_records = true;  // some may be there: they are torn out and counted

  enum class Turn : uint8_t { kRuns, kUnsubscribes, kToldToEnd };
  std::atomic<Turn> turn{Turn::kRuns};
  std::atomic<size_t> disabled{0};  // of `kinds`
  std::atomic<bool> is_over{false}, is_given_back{false};

  Mutex mutex;
  size_t dropped OPSCOPE_GUARDED_BY(mutex) = 0;
  std::map<std::string, uint64_t> failed_calls OPSCOPE_GUARDED_BY(mutex);
  bool has_lost OPSCOPE_GUARDED_BY(mutex) = false;

  void Note(const CuptiLibrary& library, const char* function, Result answer) {
    if (answer == Result::kSuccess) return;
    const char* name = nullptr;
    library.call.GetResultString(answer, &name);
    const MutexLock lock(mutex);
    ++failed_calls[std::string(function) + ": " + NameOfCode(answer, name)];
    has_lost = has_lost || std::string_view(function) == "cuptiActivityFlushAll";
  }
  bool is_told_to_end() const { return turn.load() == Turn::kToldToEnd; }
};

CuptiSession& CuptiSession::Get() {
  static CuptiSession& session = *[] {
    auto* made = new CuptiSession(&LoadedCupti());
    the_one.store(made);
    return made;
  }();
  return session;
}

CuptiSession* CuptiSession::GetIfUsed() {
  return the_one.load();
}

std::string CuptiSession::Why(Result answer, const char* function) const {
  const char* name = nullptr;
  library_->call.GetResultString(answer, &name);
  const std::string code = NameOfCode(answer, name);
  return opscope::cuda::WhyNot(ReasonOf(answer, code), function, code);
}

// Another tool has subscribed. Newer versions of CUPTI can say whether it records.
std::string CuptiSession::InUse() {
  const std::string in_use = Why(Result::kMultipleSubscribersNotSupported, "cuptiSubscribe");
  if (library_->call.ActivityGetEnabledKinds != nullptr) {
    uint32_t kinds = 0;
    const Result answer = library_->call.ActivityGetEnabledKinds(nullptr, nullptr, nullptr, &kinds);
    return answer == Result::kSuccess && kinds == 0 ? "" : in_use;
  }
  return torch_profiled_.load() ? "" : in_use;
}

std::string CuptiSession::Subscribe() {
  if (subscriber_ != nullptr) return {};  // it could not be given back
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
  return answer == Result::kMultipleSubscribersNotSupported ? InUse() : Why(answer, "cuptiSubscribe");
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
  if (answer != Result::kSuccess) return Why(answer, "cuptiActivityEnable");
  for (const ActivityKind kind : kKinds)
    Enable(kind);
  EnableAsked(flags);
  const bool is_new = !enabled_.contains(ActivityKind::kDevice);
  if (is_new && library_->call.ActivityEnableAndDump != nullptr &&
      library_->call.ActivityEnableAndDump(ActivityKind::kDevice) == Result::kSuccess) {
    enabled_.insert(ActivityKind::kDevice);
  }
  return {};
}

void CuptiSession::EnableAsked(uint32_t flags) {
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

// An older library is not asked for a number that it does not know.
void CuptiSession::EnableOrReport(ActivityKind kind, std::string_view what) {
  const bool has_kind = kind != ActivityKind::kGraphHostNode || library_->version >= cupti::GraphHostNode::kSince;
  const Result answer = has_kind ? Enable(kind) : Result::kInvalidKind;
  if (answer == Result::kSuccess) return;
  const char* name = nullptr;
  library_->call.GetResultString(answer, &name);
  std::string& text = refused_.emplace_back("cuptiActivityEnable (");
  text.append(what).append("): ").append(has_kind ? NameOfCode(answer, name) : "this CUPTI is older than 13.1");
}

cupti::Subscriber CuptiSession::TakeSubscriber() {
  return watchers_ > 0 ? nullptr : std::exchange(subscriber_, nullptr);
}

std::string CuptiSession::Open(uint32_t flags) {
  if (open_ == 0) {
    has_used_.store(true);
    if (std::string why = Subscribe(); !why.empty()) return why;
    const Result answer =
        library_->call.ActivityRegisterCallbacks(&Collector::RequestBuffer, &Collector::CompleteBuffer);
    if (answer != Result::kSuccess) return Why(answer, "cuptiActivityRegisterCallbacks");
    if (library_->call.SetThreadIdType != nullptr) library_->call.SetThreadIdType(cupti::ThreadIdType::kSystem);
  }
  return EnableKinds(flags);
}

std::string CuptiSession::Begin(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return opscope::cuda::WhyNot(kForked, "", "");
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return opscope::cuda::WhyNot(kInUse, "", "");
  if (!Settle(deadline)) return std::string(kNoAnswer);
  if (collector_ == nullptr) {
    collector_ = new Collector(library_);
    collector_->Install();
  }
  if (!collector_->Start()) return "CUDA is not recorded: no thread could be had";
  if (open_ == 0) {
    collector_->pool()->Prepare(2, BufferPool::kDefaultCap);
    lost_buffers_ = collector_->pool()->with_cupti();
  }
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunBefore(deadline, [this, answer, flags = window->flags()] { *answer = Open(flags); });
  std::string why = has_answered ? *answer : std::string(kNoAnswer);
  if (why.empty() && !collector_->Add(window, ReadClockPair(), deadline)) why = kNoAnswer;
  if (why.empty()) {
    ++open_;
    DeviceReadings::Get().Begin(collector_);
    if (window->is_timer()) timers_.insert(window->flags());
    if (!refused_.empty()) {
      collector_->Visit(deadline, [&] {
        for (const std::string& text : std::exchange(refused_, {}))
          ++window->problems().failed_calls[text];
      });
    }
    if (watchers_ > 0) GraphRecorder::Get().KeepDestroyed();
  } else if (open_ == 0 && has_answered) {
    GiveBack(deadline);
  }
  return why;
}

// After a start that was refused.
void CuptiSession::GiveBack(Deadline deadline) {
  const auto closing = std::make_shared<Closing>();
  closing->has_records = false;
  closing->kinds.assign(enabled_.begin(), enabled_.end());
  closing->subscriber = TakeSubscriber();
  enabled_.clear();
  unsettled_ = closing;
  RunBefore(deadline, [library = library_, closing] { RunClosing(library, closing); });
  Settle(deadline);
  collector_->pool()->Release();
}

// Waits for the calling thread's context, if it has one. A driver that is not loaded has none.
void CuptiSession::WaitForDevice() const {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return;
  const auto current = reinterpret_cast<int (*)(cupti::CudaContext*)>(dlsym(driver, "cuCtxGetCurrent"));
  const auto synchronize = reinterpret_cast<int (*)()>(dlsym(driver, "cuCtxSynchronize"));
  cupti::CudaContext context = nullptr;
  if (current != nullptr && synchronize != nullptr && current(&context) == 0 && context != nullptr) synchronize();
  dlclose(driver);
}

void CuptiSession::RunClosing(const CuptiLibrary* library, const std::shared_ptr<Closing>& closing) {
  const CuptiFunctions& call = library->call;
  for (const ActivityKind kind : closing->kinds) {
    if (closing->is_told_to_end()) return;
    closing->Note(*library, "cuptiActivityDisable", call.ActivityDisable(kind));
    closing->disabled.fetch_add(1);
  }
  // Only the last window flushes by force, which would cut off unfinished records of other windows.
  for (const uint32_t how : {uint32_t{0}, cupti::kFlushForced}) {
    const bool is_asked = closing->has_records && (how == 0 || closing->is_last);
    if (closing->is_told_to_end() || !is_asked) break;
    closing->Note(*library, "cuptiActivityFlushAll", call.ActivityFlushAll(how));
  }
  if (closing->is_told_to_end()) return;
  size_t dropped = 0;
  if (closing->has_records) {
    const Result answer = call.ActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    closing->Note(*library, "cuptiActivityGetNumDroppedRecords", answer);
  }
  {
    const MutexLock lock(closing->mutex);
    closing->dropped = dropped;
  }
  auto runs = Closing::Turn::kRuns;
  if (!closing->turn.compare_exchange_strong(runs, Closing::Turn::kUnsubscribes)) return;
  if (closing->subscriber != nullptr && call.Unsubscribe != nullptr) {
    const Result answer = call.Unsubscribe(closing->subscriber);
    closing->Note(*library, "cuptiUnsubscribe", answer);
    closing->is_given_back.store(answer == Result::kSuccess);
  }
  closing->is_over.store(true);
}

bool CuptiSession::Settle(Deadline deadline) {
  if (unsettled_ == nullptr) return true;
  const Deadline patience = std::min(deadline, After(kForUnsettled));
  auto runs = Closing::Turn::kRuns;
  while (!unsettled_->is_over.load() && std::chrono::steady_clock::now() < patience)
    std::this_thread::sleep_for(milliseconds(1));
  if (!unsettled_->is_over.load() && !unsettled_->turn.compare_exchange_strong(runs, Closing::Turn::kToldToEnd)) {
    while (!unsettled_->is_over.load() && std::chrono::steady_clock::now() < deadline)  // it unsubscribes
      std::this_thread::sleep_for(milliseconds(1));
    if (!unsettled_->is_over.load()) return false;
  }
  for (size_t i = unsettled_->disabled.load(); i < unsettled_->kinds.size(); ++i)
    enabled_.insert(unsettled_->kinds[i]);
  if (unsettled_->subscriber != nullptr && !unsettled_->is_given_back.load()) subscriber_ = unsettled_->subscriber;
  unsettled_ = nullptr;
  return true;
}

void CuptiSession::ReportClosing(Closing* closing, DeviceWindow* window, Deadline deadline) {
  size_t dropped = 0;
  {
    const MutexLock lock(closing->mutex);
    for (const auto& [text, count] : closing->failed_calls)
      window->problems().failed_calls[text] += count;
    window->problems().lost_by_failed_calls = window->problems().lost_by_failed_calls || closing->has_lost;
    dropped = closing->dropped;
  }
  if (dropped == 0) return;
  collector_->ForEachOpen(deadline, [&](DeviceWindow* open) { open->problems().dropped += dropped; });
}

// CUPTI may return flushed buffers a little later, on a thread of its own.
void CuptiSession::CollectLate(DeviceWindow* window, bool is_last, Deadline deadline) {
  collector_->Drain(deadline);
  const Deadline for_late = std::min(deadline, After(kForLate));
  while (is_last && collector_->pool()->with_cupti() > lost_buffers_ && std::chrono::steady_clock::now() < for_late)
    std::this_thread::sleep_for(milliseconds(1));
  if (!collector_->Drain(deadline)) window->problems().timeouts = 1;
}

void CuptiSession::End(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return;
  WaitForDevice();
  const Deadline deadline = After(kForAll);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return;
  const ClockPair end = ReadClockPair();
  const auto closing = std::make_shared<Closing>();
  closing->is_last = open_ == 1;
  if (window->is_timer()) timers_.erase(timers_.find(window->flags()));
  if (!closing->is_last && open_ - 1 == timers_.size()) {
    closing->kinds = KindsOfNoTimer();
    for (const ActivityKind kind : closing->kinds)
      enabled_.erase(kind);
    unsettled_ = closing;
  }
  if (closing->is_last) {
    closing->kinds.assign(enabled_.begin(), enabled_.end());
    closing->subscriber = TakeSubscriber();
    enabled_.clear();
    unsettled_ = closing;
    DeviceReadings::Get().Suspend();
  }
  const bool is_over = RunBefore(deadline, [library = library_, closing] { RunClosing(library, closing); });
  if (!is_over) window->problems().timeouts = 1;
  if (is_over) Settle(deadline);
  CollectLate(window.get(), closing->is_last, deadline);
  ReportClosing(closing.get(), window.get(), std::max(deadline, After(milliseconds(50))));
  ReportGraphs(window.get(), std::max(deadline, After(milliseconds(50))));
  const bool was_paused = window->is_paused();
  const bool is_ended = collector_->End(window.get(), end, std::max(deadline, After(milliseconds(50))));
  --open_;
  if (was_paused) --paused_;
  if (closing->is_last) collector_->pool()->Release();
  if (!is_ended) collector_ = nullptr;  // its thread does not come back: the next window has another one
}

void CuptiSession::Forget(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForAll);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock() || collector_ == nullptr) return;
  collector_->Drain(deadline);
  const size_t out = collector_->pool()->with_cupti();
  if (open_ == 0 && out > lost_buffers_) window->problems().late += out - lost_buffers_;
  collector_->Forget(window.get(), deadline);
}

std::string CuptiSession::WhyNot() {
  if (is_forked_.load()) return opscope::cuda::WhyNot(kForked, "", "");
  if (!library_->is_usable()) return library_->why_not;
  const Deadline deadline = After(kForStart);
  const std::unique_lock lock(mutex_, deadline);
  if (!lock.owns_lock()) return opscope::cuda::WhyNot(kInUse, "", "");
  if (open_ > 0) return {};
  if (!Settle(deadline)) return std::string(kNoAnswer);
  const auto answer = std::make_shared<std::string>();
  const bool has_answered = RunBefore(deadline, [this, answer] {
    has_used_.store(true);
    *answer = Subscribe();
    if (!answer->empty()) return;
    const Result enabled = library_->call.ActivityEnable(ActivityKind::kConcurrentKernel);
    if (enabled != Result::kSuccess) *answer = Why(enabled, "cuptiActivityEnable");
    if (enabled == Result::kSuccess) library_->call.ActivityDisable(ActivityKind::kConcurrentKernel);
    if (watchers_ > 0 || subscriber_ == nullptr || library_->call.Unsubscribe == nullptr) return;
    if (library_->call.Unsubscribe(subscriber_) == Result::kSuccess) subscriber_ = nullptr;
  });
  return has_answered ? *answer : std::string(kNoAnswer);
}

}  // namespace opscope::cuda

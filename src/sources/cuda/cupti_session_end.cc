// Closing CUPTI. The calls that close it may hang when the driver does, but a stop must return. So they run on a
// separate thread (timed_calls.h), in CUPTI's order, and the session waits for them for at most five seconds. A close
// that has not finished by then is stored (unsettled_), and the next begin checks it again.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "sources/cuda/cupti_session.h"
#include "sources/cuda/device_readings.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {
namespace {

using cupti::ActivityKind;
using cupti::Result;
using std::chrono::milliseconds;

// A stop takes at most five seconds, whichever of its calls hangs.
constexpr milliseconds kForAll{4300}, kForLate{500}, kForUnsettled{500};

}  // namespace

// State of the calls that close a window, which a separate thread makes.
struct CuptiSession::Closing {
  std::vector<ActivityKind> kinds;  // to disable before the flush: all kinds, or those that no timer needs
  cupti::Subscriber subscriber = nullptr;
  bool is_last = false;
  bool has_records = true;  // CUPTI may hold records: flush and count them

  enum class Turn : uint8_t { kRuns, kUnsubscribes, kCancelled };
  std::atomic<Turn> turn{Turn::kRuns};
  std::atomic<size_t> disabled{0};  // of `kinds`
  std::atomic<bool> is_over{false}, is_given_back{false};

  Mutex mutex;
  size_t dropped OPSCOPE_GUARDED_BY(mutex) = 0;
  std::map<std::string, uint64_t> failed_calls OPSCOPE_GUARDED_BY(mutex);
  bool has_lost OPSCOPE_GUARDED_BY(mutex) = false;

  void RecordFailure(const CuptiLibrary& library, const char* function, Result answer) {
    if (answer == Result::kSuccess) return;
    const std::string name = library.NameOf(answer);
    const MutexLock lock(mutex);
    ++failed_calls[std::string(function) + ": " + name];
    has_lost = has_lost || std::string_view(function) == "cuptiActivityFlushAll";
  }
  bool is_cancelled() const { return turn.load() == Turn::kCancelled; }
};

// Closes CUPTI after a start that CUPTI refused.
void CuptiSession::CloseAfterRefusal(Deadline deadline) {
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
    if (closing->is_cancelled()) return;
    closing->RecordFailure(*library, "cuptiActivityDisable", call.ActivityDisable(kind));
    closing->disabled.fetch_add(1);
  }
  // Only the last window flushes by force, which would cut off unfinished records of other windows.
  for (const uint32_t how : {uint32_t{0}, cupti::kFlushForced}) {
    const bool is_asked = closing->has_records && (how == 0 || closing->is_last);
    if (closing->is_cancelled() || !is_asked) break;
    closing->RecordFailure(*library, "cuptiActivityFlushAll", call.ActivityFlushAll(how));
  }
  if (closing->is_cancelled()) return;
  size_t dropped = 0;
  if (closing->has_records) {
    const Result answer = call.ActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    closing->RecordFailure(*library, "cuptiActivityGetNumDroppedRecords", answer);
  }
  {
    const MutexLock lock(closing->mutex);
    closing->dropped = dropped;
  }
  auto runs = Closing::Turn::kRuns;
  if (!closing->turn.compare_exchange_strong(runs, Closing::Turn::kUnsubscribes)) return;
  if (closing->subscriber != nullptr && call.Unsubscribe != nullptr) {
    const Result answer = call.Unsubscribe(closing->subscriber);
    closing->RecordFailure(*library, "cuptiUnsubscribe", answer);
    closing->is_given_back.store(answer == Result::kSuccess);
  }
  closing->is_over.store(true);
}

bool CuptiSession::Settle(Deadline deadline) {
  if (!WaitForCall(deadline)) return false;
  if (unsettled_ == nullptr) return true;
  auto runs = Closing::Turn::kRuns;
  if (!WaitUntilSet(unsettled_->is_over, std::min(deadline, After(kForUnsettled))) &&
      !unsettled_->turn.compare_exchange_strong(runs, Closing::Turn::kCancelled)) {
    if (!WaitUntilSet(unsettled_->is_over, deadline)) return false;  // it unsubscribes
  }
  for (size_t i = unsettled_->disabled.load(); i < unsettled_->kinds.size(); ++i)
    enabled_.insert(unsettled_->kinds[i]);
  if (unsettled_->subscriber != nullptr && !unsettled_->is_given_back.load()) subscriber_ = unsettled_->subscriber;
  unsettled_ = nullptr;
  return true;
}

void CuptiSession::ReportClosing(Closing* closing, DeviceWindow* window, Deadline deadline) {
  size_t dropped = 0;
  collector_->Visit(deadline, [&] {
    const MutexLock lock(closing->mutex);
    for (const auto& [text, count] : closing->failed_calls)
      window->problems().failed_calls[text] += count;
    window->problems().lost_by_failed_calls = window->problems().lost_by_failed_calls || closing->has_lost;
    dropped = closing->dropped;
  });
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
  if (!mutex_.try_lock_until(deadline)) return;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  const ClockPair end = ReadClockPair();
  const auto closing = std::make_shared<Closing>();
  closing->is_last = open_ == 1;
  if (window->is_timer()) timers_.erase(timers_.find(window->flags()));
  // While the start of another window hangs, the enabled kinds are unknown, so nothing is disabled.
  const bool is_known = WaitForCall(After(kForUnsettled));
  if (is_known && !closing->is_last && open_ - 1 == timers_.size()) {
    closing->kinds = KindsOfNoTimer();
    for (const ActivityKind kind : closing->kinds)
      enabled_.erase(kind);
    unsettled_ = closing;
  }
  if (is_known && closing->is_last) {
    closing->kinds.assign(enabled_.begin(), enabled_.end());
    closing->subscriber = TakeSubscriber();
    enabled_.clear();
    unsettled_ = closing;
  }
  if (closing->is_last) DeviceReadings::Get().Suspend();
  const bool is_over = RunBefore(deadline, [library = library_, closing] { RunClosing(library, closing); });
  if (!is_over || !is_known) window->problems().timeouts = 1;
  if (is_over && is_known) Settle(deadline);
  CollectLate(window.get(), closing->is_last, deadline);
  ReportClosing(closing.get(), window.get(), std::max(deadline, After(milliseconds(50))));
  ReportGraphs(window.get(), std::max(deadline, After(milliseconds(50))));
  const bool was_paused = window->is_paused();
  const Deadline for_end = std::max(deadline, After(milliseconds(50)));
  const bool is_ended = collector_->Visit(for_end, [&] { window->End(end); });
  --open_;
  if (was_paused) --paused_;
  if (closing->is_last) collector_->pool()->Release();
  if (!is_ended) is_collector_stuck_ = true;
}

void CuptiSession::Forget(const std::shared_ptr<DeviceWindow>& window) {
  if (is_forked_.load()) return;
  const Deadline deadline = After(kForAll);
  if (!mutex_.try_lock_until(deadline)) return;
  const TimedMutexLock lock(mutex_, std::adopt_lock);
  if (!has_collector()) return;
  collector_->Drain(deadline);
  const size_t out = collector_->pool()->with_cupti();
  if (open_ == 0 && out > lost_buffers_) {
    collector_->Visit(deadline, [&, lost = lost_buffers_] { window->problems().late += out - lost; });
  }
  collector_->Forget(window.get(), deadline);
}

}  // namespace opscope::cuda

// The CUPTI session of this process. CUPTI allows one subscriber; this class subscribes and enables activity kinds
// while any window is open, and unsubscribes after the last one.
//
//   closed --Begin--> open: subscribed, callbacks registered, kinds enabled --last End--> closed
//
// If another tool has subscribed already, this class leaves CUPTI to it: the tool's recording is unaffected.
//
// Thread rule: any thread; one caller at a time of Begin and End. CUPTI is called with a lock held that none of CUPTI's
// callbacks takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/timed_mutex.h"
#include "sources/cuda/collector.h"
#include "sources/cuda/cupti_library.h"
#include "sources/cuda/device_window.h"
#include "sources/cuda/node_times.h"
#include "sources/cuda/timed_calls.h"

namespace opscope::cuda {

class CuptiSession {
 public:
  static CuptiSession& Get();  // of this process; never destroyed
  static CuptiSession* GetIfUsed();

  // Begins to record for the window. Returns "", or one line with a reason of cupti_errors.h.
  std::string Begin(const std::shared_ptr<DeviceWindow>& window);
  // Waits for the device, collects its records, and closes CUPTI after the last window. Takes at most five seconds
  // beyond the wait for the device. REQUIRES: Begin took the window.
  void End(const std::shared_ptr<DeviceWindow>& window);
  // Pauses or resumes: what is launched in a pause is not recorded. CUPTI's kinds are disabled while every window is
  // paused. Waits for the device. REQUIRES: between Begin and End of the window.
  void Pause(const std::shared_ptr<DeviceWindow>& window, bool paused);
  // Counts records that came late or never, and forgets the window.
  void Forget(const std::shared_ptr<DeviceWindow>& window);

  // "": CUDA could be recorded now; else why not. Leaves nothing enabled or subscribed.
  std::string CheckAvailable();
  // Subscribes to CUPTI's callbacks for graphs (graph_recorder.h), until as many calls of LeaveGraphs. "" or why not.
  std::string WatchGraphs();
  void LeaveGraphs();
  // Fetches CUPTI's partly filled buffers, for timers.
  void Flush();
  NodeTimes TakeTimes(DeviceWindow* window);
  void SetTorchProfiled(bool is_over) { torch_profiled_.store(is_over); }
  // In the child of a fork: if the parent has used CUPTI, the child never calls it.
  void ForgetAfterFork() { is_forked_.store(has_used_.load()); }
  bool is_forked() const { return is_forked_.load(); }

 private:
  explicit CuptiSession(const CuptiLibrary* library) : library_(library) {}

  // Runs a call of CUPTI that changes refused_, enabled_ or subscriber_ on a separate thread. False: it has not
  // returned by the deadline. The call may use mutex_.AssertHeld(): the caller of RunCall holds the mutex, and after
  // the deadline all other code calls WaitForCall before it uses these members.
  bool RunCall(Deadline deadline, std::function<void()> call) OPSCOPE_REQUIRES(mutex_);
  // False: the last call of RunCall has not returned.
  bool WaitForCall(Deadline deadline) OPSCOPE_REQUIRES(mutex_);

  std::string Open(bool is_first, uint32_t flags) OPSCOPE_REQUIRES(mutex_);
  std::string Subscribe() OPSCOPE_REQUIRES(mutex_);
  std::string InUse();
  std::string EnableKinds(uint32_t flags) OPSCOPE_REQUIRES(mutex_);
  void EnableRequested(uint32_t flags) OPSCOPE_REQUIRES(mutex_);
  void EnableOrReport(cupti::ActivityKind kind, std::string_view what) OPSCOPE_REQUIRES(mutex_);
  std::string EnableTimed(uint32_t flags) OPSCOPE_REQUIRES(mutex_);
  std::vector<cupti::ActivityKind> KindsOfNoTimer() const OPSCOPE_REQUIRES(mutex_);
  void ReportGraphs(DeviceWindow* window, Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  cupti::Subscriber TakeSubscriber() OPSCOPE_REQUIRES(mutex_);  // to unsubscribe it; null while graphs are watched
  // "" or the call that failed.
  std::string Suspend(Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  std::string Resume(uint32_t flags, Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  cupti::Result Enable(cupti::ActivityKind kind) OPSCOPE_REQUIRES(mutex_);
  bool has_collector() const OPSCOPE_REQUIRES(mutex_) { return collector_ != nullptr && !is_collector_stuck_; }
  struct Closing;
  void CloseAfterRefusal(Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  // Ends calls that have not returned from CUPTI: waits for them, or makes a close stop before its next call. False:
  // neither was possible in time.
  bool Settle(Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  static void RunClosing(const CuptiLibrary* library, const std::shared_ptr<Closing>& closing);
  void CollectLate(DeviceWindow* window, bool is_last, Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  void ReportClosing(Closing* closing, DeviceWindow* window, Deadline deadline) OPSCOPE_REQUIRES(mutex_);
  void WaitForDevice() const;

  const CuptiLibrary* library_;
  TimedMutex mutex_;
  size_t open_ OPSCOPE_GUARDED_BY(mutex_) = 0;                   // windows
  size_t watchers_ OPSCOPE_GUARDED_BY(mutex_) = 0;               // callers of WatchGraphs
  std::multiset<uint32_t> timers_ OPSCOPE_GUARDED_BY(mutex_);    // flags of the windows that are timers
  std::vector<std::string> refused_ OPSCOPE_GUARDED_BY(mutex_);  // kinds that the last Open could not enable
  size_t paused_ OPSCOPE_GUARDED_BY(mutex_) = 0;                 // windows that are paused
  size_t lost_buffers_ OPSCOPE_GUARDED_BY(mutex_) = 0;           // buffers that CUPTI never returned
  std::set<cupti::ActivityKind> enabled_ OPSCOPE_GUARDED_BY(mutex_);
  cupti::Subscriber subscriber_ OPSCOPE_GUARDED_BY(mutex_) = nullptr;
  Collector* collector_ OPSCOPE_GUARDED_BY(mutex_) = nullptr;
  // The collector's thread hangs in CUPTI: the next window uses a new collector.
  bool is_collector_stuck_ OPSCOPE_GUARDED_BY(mutex_) = false;
  // True: the call of RunCall has returned; null: no call is running.
  std::shared_ptr<std::atomic<bool>> call_ OPSCOPE_GUARDED_BY(mutex_);
  // A close that has not finished. It owns the kinds and the subscription.
  std::shared_ptr<Closing> unsettled_ OPSCOPE_GUARDED_BY(mutex_);
  std::atomic<bool> has_used_{false}, is_forked_{false}, torch_profiled_{false};
};

}  // namespace opscope::cuda

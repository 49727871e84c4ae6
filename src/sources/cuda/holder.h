// CUPTI in this process, which one subscriber alone can have: subscribed and enabled while any window is open, and
// given back after the last one.
//
//   closed --Begin--> open: subscribed, callbacks registered, kinds enabled --last End--> closed
//
// Whoever else holds CUPTI keeps it: if that one records, this takes nothing from it.
//
// Thread rule: any thread; Begin and End take turns. A lock of this is held while CUPTI is called, and none of CUPTI's
// callbacks takes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/timed_mutex.h"
#include "sources/cuda/collector.h"
#include "sources/cuda/cupti_library.h"
#include "sources/cuda/device_window.h"
#include "sources/cuda/node_times.h"

namespace opscope::cuda {

class Holder {
 public:
  static Holder& Get();  // of this process; lives for ever
  static Holder* GetIfUsed();

  // "" and the window takes records, or why not: a line with the words of cupti_verdict.h.
  std::string Begin(const std::shared_ptr<DeviceWindow>& window);
  // Waits for the device, collects what there is, gives CUPTI back after the last window. Within five seconds, but for
  // the device's own work. REQUIRES: Begin took the window.
  void End(const std::shared_ptr<DeviceWindow>& window);
  // Lets what is launched from here on pass unrecorded, or no longer; CUPTI rests while no window records. Waits for
  // the device. REQUIRES: Begin took the window, and End did not.
  void Pause(const std::shared_ptr<DeviceWindow>& window, bool paused);
  // What came too late, or never, is counted; from here on the window is forgotten.
  void Forget(const std::shared_ptr<DeviceWindow>& window);

  // Why nothing could be recorded now; "" if it could. Leaves nothing enabled or subscribed.
  std::string WhyNot();
  // Subscribes to what CUPTI tells of graphs (graph_recorder.h), until as many calls of LeaveGraphs. "" or why not.
  std::string WatchGraphs();
  void LeaveGraphs();
  // What CUPTI has filled of its buffers, for timers.
  void Flush();
  NodeTimes TakeTimes(DeviceWindow* window);
  void TellTorchProfiled(bool is_over) { torch_profiled_.store(is_over); }
  // In the child of a fork of a process that has used CUPTI nothing of CUPTI is called.
  void ForgetAfterFork() { is_forked_.store(has_used_.load()); }
  bool is_forked() const { return is_forked_.load(); }

 private:
  explicit Holder(const CuptiLibrary* library) : library_(library) {}

  std::string Open(uint32_t flags);
  std::string Subscribe();
  std::string InUse();
  std::string EnableKinds(uint32_t flags);
  void EnableAsked(uint32_t flags);
  void EnableOrTell(cupti::ActivityKind kind, std::string_view what);
  std::string EnableTimed(uint32_t flags);
  std::vector<cupti::ActivityKind> KindsOfNoTimer() const;
  void TellOfGraphs(DeviceWindow* window, Deadline deadline);
  cupti::Subscriber TakeSubscriber();  // to give it back, unless graphs are watched
  // What failed, "" if nothing did.
  std::string Rest(Deadline deadline);
  std::string Wake(uint32_t flags, Deadline deadline);
  cupti::Result Enable(cupti::ActivityKind kind);
  std::string Why(cupti::Result answer, const char* function) const;
  struct Closing;
  void GiveBack(Deadline deadline);
  // What was begun when a window ended and has not come back from CUPTI is over, or is told to call nothing more.
  // False: neither.
  bool Settle(Deadline deadline);
  static void RunClosing(const CuptiLibrary* library, const std::shared_ptr<Closing>& closing);
  void CollectLate(DeviceWindow* window, bool is_last, Deadline deadline);
  void TellOf(const Closing& closing, DeviceWindow* window, Deadline deadline);
  void WaitForDevice() const;

  const CuptiLibrary* library_;
  TimedMutex mutex_;
  size_t open_ = 0;                   // windows
  size_t watchers_ = 0;               // of graphs
  std::multiset<uint32_t> timers_;    // flags of those that are among the windows
  std::vector<std::string> refused_;  // kinds that were asked for by name, by the last Open
  size_t paused_ = 0;                 // of them
  size_t lost_buffers_ = 0;           // that CUPTI has kept since earlier ones
  std::set<cupti::ActivityKind> enabled_;
  cupti::Subscriber subscriber_ = nullptr;
  Collector* collector_ = nullptr;      // a stuck one is left behind
  std::shared_ptr<Closing> unsettled_;  // has the kinds and the subscription until it is settled
  std::atomic<bool> has_used_{false}, is_forked_{false}, torch_profiled_{false};
};

}  // namespace opscope::cuda

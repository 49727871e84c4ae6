// Reads power and clock of the devices with NVML while a window is open, at most ten times a second. NVML may be slow,
// fail or hang, so a separate thread loads, initialises, calls and shuts it down, and no other thread waits for it. If
// NVML cannot be loaded, the thread ends and is not started again.
//
//   no thread --Begin--> reads: NVML is initialised --Suspend--> no thread
//
// A thread that hangs in NVML is abandoned; if NVML returns, the thread reads the state again and goes on. There is
// never more than one such thread.
//
// Thread rule: any thread. mutex_ is not held while NVML, CUDA's driver or the windows are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <vector>

#include "base/mutex.h"
#include "sources/cuda/collector.h"
#include "sources/cuda/nvml_library.h"

namespace opscope::cuda {

class DeviceReadings {
 public:
  static DeviceReadings& Get();  // of this process; never destroyed

  // Delivers readings to the open windows of this collector from now on.
  void Begin(Collector* collector);
  void Suspend();

 private:
  void Run();
  void ReadWhileWanted(const NvmlFunctions& nvml);
  // Waits for the time of the next reading. False: readings are no longer wanted.
  bool AwaitNext();
  // NVML's code must not run while the process unloads it. So each call sets is_inside_, and the exit handler waits for
  // it up to 100 ms. False: the process is exiting, and nothing was called.
  template <typename Calls>
  bool Call(const Calls& calls);
  static void EndWithProcess();

  Mutex mutex_;
  ConditionVariable changed_;
  Collector* collector_ OPSCOPE_GUARDED_BY(mutex_) = nullptr;
  bool is_wanted_ OPSCOPE_GUARDED_BY(mutex_) = false;
  bool has_thread_ OPSCOPE_GUARDED_BY(mutex_) = false;
  bool is_absent_ OPSCOPE_GUARDED_BY(mutex_) = false;  // NVML cannot be loaded

  std::chrono::steady_clock::time_point next_;  // used by the thread alone
  pid_t process_ = 0;
  std::atomic<bool> is_inside_{false}, is_ending_{false};
};

}  // namespace opscope::cuda

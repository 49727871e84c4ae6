// Reads power and clock of the devices, ten times a second at most, while a window is open, on a thread of its own:
// NVML may be slow, fail or hang, and nobody waits for it. It is loaded, begun and ended on that thread; where it does
// not load the thread ends, and there is none any more.
//
//   no thread --Begin--> reads: NVML is begun --Rest--> no thread
//
// A thread that hangs in NVML is left to itself; when it comes back it does what is asked by then. There is never more
// than one.
//
// Thread rule: any thread. No lock of this is held while NVML, CUDA's driver or the windows are called.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "sources/cuda/collector.h"
#include "sources/cuda/nvml_library.h"

namespace opscope::cuda {

class DeviceReadings {
 public:
  static DeviceReadings& Get();  // of this process; lives for ever

  // The open windows of this collector have readings from now on.
  void Begin(Collector* collector);
  void Rest();

 private:
  void Run();
  void ReadWhileWanted(const NvmlFunctions& nvml);
  // True: it is still wanted, and its time has come.
  bool AwaitNext();
  // NVML's code must not run while the process takes the library down. So whoever calls it says so, and the end of the
  // process waits a moment for him. False: it ends, and nothing was called.
  template <typename Calls>
  bool Call(const Calls& calls);
  static void EndWithProcess();

  std::mutex mutex_;  // of these
  std::condition_variable changed_;
  Collector* collector_ = nullptr;
  bool is_wanted_ = false, has_thread_ = false, is_absent_ = false;

  std::chrono::steady_clock::time_point next_;  // the thread's own
  pid_t process_ = 0;
  std::atomic<bool> is_inside_{false}, is_ending_{false};
};

}  // namespace opscope::cuda

// Threads of the CUDA source. A call that may hang runs on a separate thread, and its caller waits until a deadline.
// A thread whose call does not return is abandoned; it ends with the process.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

namespace opscope::cuda {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline After(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// Waits until the flag is set. False: the deadline passed.
bool WaitUntilSet(const std::atomic<bool>& flag, Deadline deadline);

// Starts a thread with all signals blocked, so that the program's threads handle them. False: no thread could be
// started.
bool BeginThread(std::function<void()> work);

// Runs `work` on a thread and waits for it. False: it still runs at the deadline, or no thread could be started.
// REQUIRES: `work` owns everything that it uses.
bool RunBefore(Deadline deadline, std::function<void()> work);

}  // namespace opscope::cuda

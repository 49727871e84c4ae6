// Threads of the source, and calls that may hang: each runs on a thread of its own, and who asked for it waits no
// longer than it has time for. A thread that does not come back is left to itself; it ends with the process.
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

// Waits until the flag is set. False: it was not before the deadline.
bool WaitUntilSet(const std::atomic<bool>& flag, Deadline deadline);

// A thread that takes none of the program's signals. False: none could be had.
bool BeginThread(std::function<void()> work);

// False: it was not over in time, and goes on; or no thread could be had. `work` must own what it needs.
bool RunBefore(Deadline deadline, std::function<void()> work);

}  // namespace opscope::cuda

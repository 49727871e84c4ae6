// The caller of RunBefore waits on a condition variable with a deadline. A call that hangs keeps its thread for ever;
// the program continues without the call's result.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/timed_calls.h"

#include <memory>
#include <thread>

#include "base/mutex.h"
#include "base/start_thread.h"
#include "sources/streams/failures.h"

namespace opscope::cuda {

bool WaitUntilSet(const std::atomic<bool>& flag, Deadline deadline) {
  while (!flag.load()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool BeginThread(std::function<void()> work) {
  std::thread thread;
  try {
    if (!StartThread(std::move(work), &thread).ok()) return false;
  } catch (...) {
    return false;
  }
  thread.detach();
  return true;
}

bool RunBefore(Deadline deadline, std::function<void()> work) {
  struct Shared {
    Mutex mutex;
    ConditionVariable over;
    bool is_over OPSCOPE_GUARDED_BY(mutex) = false;
  };
  const auto shared = std::make_shared<Shared>();
  const bool has_begun = BeginThread([shared, work = std::move(work)] {
    try {
      work();
    } catch (...) {  // treated as a call that does not return
      CountFailure();
      return;
    }
    const MutexLock lock(shared->mutex);
    shared->is_over = true;
    shared->over.notify_all();
  });
  if (!has_begun) return false;
  const MutexLock lock(shared->mutex);
  while (!shared->is_over) {
    if (!shared->over.wait_until(shared->mutex, deadline)) return shared->is_over;
  }
  return true;
}

}  // namespace opscope::cuda

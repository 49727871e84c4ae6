// Calls of CUPTI that may hang run on a thread of their own, and the caller waits until a deadline. A call that hangs
// keeps its thread for ever; the program goes on without the call's result.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/timed_calls.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace opscope::cuda {

bool BeginThread(std::function<void()> work) {
  sigset_t all, before;  // the program's signals are for its own threads
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool has_begun = true;
  try {
    std::thread(std::move(work)).detach();
  } catch (...) {
    has_begun = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return has_begun;
}

bool RunBefore(std::chrono::steady_clock::time_point deadline, std::function<void()> work) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable over;
    bool is_over = false;
  };
  const auto shared = std::make_shared<Shared>();
  const bool has_begun = BeginThread([shared, work = std::move(work)] {
    work();
    const std::lock_guard lock(shared->mutex);
    shared->is_over = true;
    shared->over.notify_all();
  });
  if (!has_begun) return false;
  std::unique_lock lock(shared->mutex);
  return shared->over.wait_until(lock, deadline, [&] { return shared->is_over; });
}

}  // namespace opscope::cuda

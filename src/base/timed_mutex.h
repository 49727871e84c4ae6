// A mutex that is waited for until a moment: std::timed_mutex, but for the thread sanitizer. That of gcc 12 does not
// see pthread_mutex_clocklock, by which libstdc++ waits, and reports each unlock as that of a foreign lock.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

namespace opscope {

#if defined(__SANITIZE_THREAD__)
class TimedMutex {
 public:
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }
  template <typename Clock, typename Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& end) {
    while (!mutex_.try_lock()) {
      if (Clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

 private:
  std::mutex mutex_;
};
#else
using TimedMutex = std::timed_mutex;
#endif

}  // namespace opscope

// A Mutex (base/mutex.h) that a thread waits for until a moment only.
//
//   if (!mutex_.try_lock_until(deadline)) return false;
//   const TimedMutexLock lock(mutex_, std::adopt_lock);
//
// It wraps std::timed_mutex, but for the thread sanitizer. That of gcc 12 does not see pthread_mutex_clocklock, by
// which libstdc++ waits, and reports each unlock as that of a foreign lock.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

#include "base/mutex.h"

namespace opscope {

class OPSCOPE_THREAD_ANNOTATION(capability("mutex")) TimedMutex {
 public:
  void lock() OPSCOPE_ACQUIRE() { mutex_.lock(); }
  void unlock() OPSCOPE_RELEASE() { mutex_.unlock(); }
  // False: another thread held the mutex until the moment.
  bool try_lock_until(std::chrono::steady_clock::time_point moment) OPSCOPE_TRY_ACQUIRE(true) {
#if defined(__SANITIZE_THREAD__)
    while (!mutex_.try_lock()) {
      if (std::chrono::steady_clock::now() >= moment) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
#else
    return mutex_.try_lock_until(moment);
#endif
  }

  // As Mutex::AssertHeld.
  void AssertHeld() const OPSCOPE_ASSERT_HELD(this) {}

 private:
#if defined(__SANITIZE_THREAD__)
  std::mutex mutex_;
#else
  std::timed_mutex mutex_;
#endif
};

// Holds a TimedMutex for a block.
class OPSCOPE_THREAD_ANNOTATION(scoped_lockable) TimedMutexLock {
 public:
  explicit TimedMutexLock(TimedMutex& mutex) OPSCOPE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  TimedMutexLock(TimedMutex& mutex, std::adopt_lock_t /*is held*/) OPSCOPE_REQUIRES(mutex) : mutex_(mutex) {}
  ~TimedMutexLock() OPSCOPE_RELEASE() { mutex_.unlock(); }
  TimedMutexLock(const TimedMutexLock&) = delete;
  TimedMutexLock& operator=(const TimedMutexLock&) = delete;

 private:
  TimedMutex& mutex_;
};

}  // namespace opscope

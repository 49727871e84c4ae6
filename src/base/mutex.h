// A std::mutex with annotations for clang's thread-safety analysis. Members that are OPSCOPE_GUARDED_BY a mutex may be
// used only while it is held, and functions declare which locks they need or take; `tools/tidy` checks it. libstdc++
// does not annotate std::mutex, so this class exists. For other compilers the annotations are empty.
//
//   Mutex mutex_;
//   size_t count_ OPSCOPE_GUARDED_BY(mutex_) = 0;
//   void AddLocked() OPSCOPE_REQUIRES(mutex_);
//
// Members have the names of the standard library's. Reference: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define OPSCOPE_THREAD_ANNOTATION(attribute) __attribute__((attribute))
#else
#define OPSCOPE_THREAD_ANNOTATION(attribute)
#endif
#define OPSCOPE_GUARDED_BY(mutex) OPSCOPE_THREAD_ANNOTATION(guarded_by(mutex))
#define OPSCOPE_REQUIRES(...) OPSCOPE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define OPSCOPE_ACQUIRE(...) OPSCOPE_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define OPSCOPE_RELEASE(...) OPSCOPE_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define OPSCOPE_TRY_ACQUIRE(...) OPSCOPE_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define OPSCOPE_LOCK_RETURNED(mutex) OPSCOPE_THREAD_ANNOTATION(lock_returned(mutex))
#define OPSCOPE_ASSERT_HELD(mutex) OPSCOPE_THREAD_ANNOTATION(assert_capability(mutex))
// For functions that the analysis cannot follow; a comment beside it says why they are right.
#define OPSCOPE_UNCHECKED_LOCKS OPSCOPE_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace opscope {

class OPSCOPE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() OPSCOPE_ACQUIRE() { mutex_.lock(); }
  void unlock() OPSCOPE_RELEASE() { mutex_.unlock(); }
  bool try_lock() OPSCOPE_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Tells the analysis that the lock is held, or that no other thread can come. Does nothing.
  void AssertHeld() const OPSCOPE_ASSERT_HELD(this) {}

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a mutex for a block, which may unlock and lock it again.
class OPSCOPE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) OPSCOPE_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(Mutex& mutex, std::adopt_lock_t /*is held*/) OPSCOPE_REQUIRES(mutex) : mutex_(mutex) {}
  ~MutexLock() OPSCOPE_RELEASE() {
    if (is_held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() OPSCOPE_RELEASE() {
    is_held_ = false;
    mutex_.unlock();
  }
  void lock() OPSCOPE_ACQUIRE() {
    mutex_.lock();
    is_held_ = true;
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

// Callers wait in a loop that tests the condition. A predicate would be a function of its own, for which the analysis
// does not know that the lock is held.
class ConditionVariable {
 public:
  void wait(Mutex& mutex) OPSCOPE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    changed_.wait(lock);
    static_cast<void>(lock.release());
  }
  // Waits until a moment at most. False: the moment has passed.
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point moment) OPSCOPE_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const std::cv_status status = changed_.wait_until(lock, moment);
    static_cast<void>(lock.release());
    return status == std::cv_status::no_timeout;
  }
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace opscope

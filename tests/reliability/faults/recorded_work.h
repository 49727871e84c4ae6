// The program that is recorded while something fails: two threads with scopes, arguments, counters, names made
// at run time. It knows how many events it issued and what its own result must be.
//
// Thread rule: one thread at a time; the second thread belongs to the object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>

namespace faults {

// REQUIRES: made while nothing fails; its thread waits until Work is called.
class RecordedWork {
 public:
  RecordedWork();
  ~RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;

  // Issues events on both threads, and waits for the other one.
  void Work();
  // Of all calls of Work so far, for a window that was open all the time.
  uint64_t issued() const { return issued_; }
  // The work itself came to the result that it has without a recorder.
  bool is_right() const { return result_ == expected_; }

 private:
  static void* RunThread(void* self);
  static uint64_t WorkOnce();

  pthread_t thread_;
  sem_t begin_;
  sem_t done_;
  bool ends_ = false;
  uint64_t thread_result_ = 0;
  uint64_t issued_ = 0;
  uint64_t result_ = 0;
  uint64_t expected_ = 0;
};

}  // namespace faults

// The thread that dumps when the job cannot: on a signal, or when no step came for too long. It sleeps on
// a futex that a signal handler can wake, blocks all signals, and runs no code of the user.
//
// Thread rule: one thread at a time; OnStep from any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "flight/waiting_futex.h"
#include "opscope/result.h"

namespace opscope {

class DumpListener {
 public:
  virtual void OnSignalReceived(int signal) = 0;
  // False: nothing could be dumped now; asks again.
  virtual bool OnHang(int64_t ns) = 0;

 protected:
  ~DumpListener() = default;
};

class DumperThread {
 public:
  explicit DumperThread(DumpListener* listener) : listener_(listener) {}
  // REQUIRES: stopped, or this process is a child of the one that started it.
  ~DumperThread() = default;
  DumperThread(const DumperThread&) = delete;
  DumperThread& operator=(const DumperThread&) = delete;

  // signal 0: none; no_step_ns 0: no watchdog.
  [[nodiscard]] Status Start(int signal, int64_t no_step_ns);
  // Waits for a running call of the listener.
  void Stop();
  void OnStep();

 private:
  static void* Run(void* self);
  void Loop();
  void AnswerSignal();
  // Nanoseconds until the watchdog looks again, negative: never.
  int64_t NextCheckTimeout(int64_t now) const;
  void CheckForHang(int64_t now);

  DumpListener* listener_;
  WaitingFutex* futex_ = nullptr;
  int signal_ = 0;
  int64_t no_step_ns_ = 0;
  pthread_t thread_{};
  std::atomic<bool> stops_{false};
  uint32_t last_count_ = 0;  // count of the futex when no signal can come any more; written before `stops_`
  std::atomic<int64_t> last_step_ns_{0};

  // Of the thread, once it runs.
  uint32_t seen_ = 0;              // count of the futex: read before the thread is there, so that no wake-up is missed
  int64_t reported_step_ns_ = -1;  // the last step before the reported hang; -1: none
  int64_t next_check_ns_ = 0;      // after the listener had nothing to dump, or the whole process stood still
};

}  // namespace opscope

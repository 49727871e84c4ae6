<<<<<<<< HEAD:src/flight/waiting_futex.h
// What a thread sleeps on and a signal handler wakes: a futex and no descriptor, because a job may
========
// Futexes that a thread sleeps on and a signal handler wakes; no descriptors, because a job may
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.h
// close descriptors that it does not know, and because a child of fork has its own copy of memory.
//
// The futexes live as long as the process: a handler may be about to touch one when its user has given it
// back.
//
// Thread rule: any thread; Wake also in a signal handler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace opscope {

<<<<<<<< HEAD:src/flight/waiting_futex.h
inline constexpr int kWaitingFutexes = 64;

struct WaitingFutex {
========
inline constexpr int kFutexes = 64;

struct Futex {
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.h
  std::atomic<uint32_t> count{0};
  std::atomic<int> signal{0};  // whose handler wakes this futex; 0: none
  std::atomic<bool> taken{false};

  void Wake();
  // Returns when the count is no longer `seen`, after `timeout_ns` (negative: never), or for no reason.
  void Sleep(uint32_t seen, int64_t timeout_ns);
};

<<<<<<<< HEAD:src/flight/waiting_futex.h
extern WaitingFutex waiting_futexes[kWaitingFutexes];

// Null: all are taken.
WaitingFutex* TakeFutex();
void ReturnFutex(WaitingFutex* futex);
========
extern Futex futexes[kFutexes];

// Null: all are taken.
Futex* TakeFutex();
void ReturnFutex(Futex* futex);
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.h

}  // namespace opscope

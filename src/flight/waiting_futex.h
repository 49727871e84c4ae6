// A futex that a thread sleeps on and a signal handler wakes. No file descriptor, because a job may close
// descriptors that it does not know; in plain memory, because a child of fork then has its own copy.
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

inline constexpr int kWaitingFutexes = 64;

struct WaitingFutex {
  std::atomic<uint32_t> count{0};
  std::atomic<int> signal{0};  // whose handler wakes this futex; 0: none
  std::atomic<bool> taken{false};

  void Wake();
  // Returns when the count is no longer `seen`, after `timeout_ns` (negative: never), or for no reason.
  void Sleep(uint32_t seen, int64_t timeout_ns);
};

extern WaitingFutex waiting_futexes[kWaitingFutexes];

// Null: all are taken.
WaitingFutex* TakeFutex();
void ReturnFutex(WaitingFutex* futex);

}  // namespace opscope

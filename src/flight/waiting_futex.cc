// A counter that a thread sleeps on and a signal handler increments. FUTEX_WAIT compares the counter in the
// kernel, so a wake-up between the check and the sleep is not lost. A semaphore or a pipe would need a file
// descriptor or a lock.
// SPDX-License-Identifier: Apache-2.0
#include "flight/waiting_futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace opscope {

constinit WaitingFutex waiting_futexes[kWaitingFutexes];

void WaitingFutex::Wake() {
  count.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void WaitingFutex::Sleep(uint32_t seen, int64_t timeout_ns) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1000000000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1000000000);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? nullptr : &timeout,
          nullptr, 0);
}

WaitingFutex* TakeFutex() {
  for (WaitingFutex& futex : waiting_futexes) {
    if (!futex.taken.exchange(true, std::memory_order_acquire)) return &futex;
  }
  return nullptr;
}

void ReturnFutex(WaitingFutex* futex) {
  futex->signal.store(0, std::memory_order_release);
  futex->taken.store(false, std::memory_order_release);
}

}  // namespace opscope

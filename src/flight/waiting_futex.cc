// SPDX-License-Identifier: Apache-2.0
<<<<<<<< HEAD:src/flight/waiting_futex.cc
#include "flight/waiting_futex.h"
========
#include "profiler/futexes.h"
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.cc

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace opscope {

<<<<<<<< HEAD:src/flight/waiting_futex.cc
constinit WaitingFutex waiting_futexes[kWaitingFutexes];

void WaitingFutex::Wake() {
========
constinit Futex futexes[kFutexes];

void Futex::Wake() {
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.cc
  count.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

<<<<<<<< HEAD:src/flight/waiting_futex.cc
void WaitingFutex::Sleep(uint32_t seen, int64_t timeout_ns) {
========
void Futex::Sleep(uint32_t seen, int64_t timeout_ns) {
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.cc
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1000000000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1000000000);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? nullptr : &timeout,
          nullptr, 0);
}

<<<<<<<< HEAD:src/flight/waiting_futex.cc
WaitingFutex* TakeFutex() {
  for (WaitingFutex& futex : waiting_futexes) {
========
Futex* TakeFutex() {
  for (Futex& futex : futexes) {
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.cc
    if (!futex.taken.exchange(true, std::memory_order_acquire)) return &futex;
  }
  return nullptr;
}

<<<<<<<< HEAD:src/flight/waiting_futex.cc
void ReturnFutex(WaitingFutex* futex) {
========
void ReturnFutex(Futex* futex) {
>>>>>>>> 272bb63 (Call handlers handlers, and futexes futexes):src/profiler/futexes.cc
  futex->signal.store(0, std::memory_order_release);
  futex->taken.store(false, std::memory_order_release);
}

}  // namespace opscope

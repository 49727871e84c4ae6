// SPDX-License-Identifier: Apache-2.0
#include "profiler/wake_words.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace opscope {

constinit WakeWord wake_words[kWakeWords];

void WakeWord::Wake() {
  count.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void WakeWord::Sleep(uint32_t seen, int64_t timeout_ns) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1000000000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1000000000);
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&count), FUTEX_WAIT_PRIVATE, seen, timeout_ns < 0 ? nullptr : &timeout,
          nullptr, 0);
}

WakeWord* TakeWakeWord() {
  for (WakeWord& word : wake_words) {
    if (!word.taken.exchange(true, std::memory_order_acquire)) return &word;
  }
  return nullptr;
}

void ReturnWakeWord(WakeWord* word) {
  word->signal.store(0, std::memory_order_release);
  word->taken.store(false, std::memory_order_release);
}

}  // namespace opscope

// A thread without a Thread, or without a stream, has no counter of its own for the events it loses: memory
// for it was refused, or its thread-local data is gone already. So the window has one counter for all such
// threads, which reports show as a thread with index 0.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/dropped_without_stream.h"

#include "recorder/signals.h"

namespace opscope {

bool CountDropWithoutStream(Window* window) {
  window->dropped_without_stream.fetch_add(1, std::memory_order_relaxed);
  return false;
}

Thread* CountDropWithoutStreamInAll() {
  const SignalsBlocked blocked;
  MutexLock lock(registry.mutex);
  for (uint32_t slot = 0; slot < kMaxWindows; ++slot) {
    if (opscope_window_generation[slot].load(std::memory_order_relaxed) == 0) continue;
    if (registry.open[slot]->native_threads == NativeThreads::kAll) CountDropWithoutStream(registry.open[slot]);
  }
  return nullptr;
}

}  // namespace opscope

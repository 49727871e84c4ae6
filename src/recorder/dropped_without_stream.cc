// A thread without a Thread, or without a stream, has no counter of its own for the events it loses: the
// allocation failed, or its thread-local data is gone already. So the window has one counter for all such
// threads, which reports show as a thread with index 0.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/dropped_without_stream.h"

#include "base/signals_blocked.h"

namespace opscope {

void CountDropOfHandler(Stream* stream) {
  StateOf(stream)->dropped_elsewhere.fetch_add(1, std::memory_order_relaxed);
  if (stream->open_capacity != 0) __atomic_fetch_add(&OpenTableOf(stream)->dropped, 1, __ATOMIC_RELAXED);
}

bool CountDropWithoutStream(Window* window) {
  window->dropped_without_stream.fetch_add(1, std::memory_order_relaxed);
  return false;
}

Thread* CountDropPerWindow(Thread* thread) {
  const SignalsBlocked blocked;
  MutexLock lock(registry.mutex);
  for (uint32_t slot = 0; slot < kMaxWindows; ++slot) {
    const uint64_t generation = opscope_window_generation[slot].load(std::memory_order_relaxed);
    if (generation == 0) continue;
    Window* window = registry.open[slot];
    Stream* stream = thread == nullptr ? nullptr : thread->streams[slot];
    if (stream != nullptr && stream->generation.load(std::memory_order_relaxed) == generation) {
      if (window->native_threads != NativeThreads::kNone) CountDropOfHandler(stream);
    } else if (window->native_threads == NativeThreads::kAll) {
      CountDropWithoutStream(window);
    }
  }
  return nullptr;
}

}  // namespace opscope

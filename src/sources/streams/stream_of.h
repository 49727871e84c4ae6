// The calling thread's stream in the window that a callback is bound to. The slot of the window is the index of the
// stream, and the stream's generation proves that it belongs to this window and not to an earlier one in the same slot.
// A thread without a stream gets one.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/recorder.h"
#include "sources/streams/window_binding.h"

namespace opscope {

// Null: the window is closed, or cannot take this thread. Takes the recorder's lock.
__attribute__((noinline)) inline Stream* AttachStream(uint32_t slot, uint64_t generation, uint64_t logical_thread) {
  if (slot >= kMaxWindows) return nullptr;
  if (opscope_window_generation[slot].load(std::memory_order_acquire) != generation) return nullptr;
  Stream* stream = opscope_stream_attach(slot, logical_thread);
  if (stream == nullptr || stream->generation.load(std::memory_order_relaxed) != generation) return nullptr;
  return stream;
}

// Null: the calling thread has no stream yet, or the window is closed.
inline Stream* KnownStreamOf(uint32_t slot, uint64_t generation) {
  const Thread* thread = opscope_tls;
  if (OPSCOPE_UNLIKELY(thread == nullptr)) return nullptr;
  Stream* stream = thread->streams[slot];
  const bool is_of_window = stream != nullptr && stream->generation.load(std::memory_order_relaxed) == generation;
  return __builtin_expect(is_of_window, 1) ? stream : nullptr;
}

// Null: the window is closed, or cannot take this thread. logical_thread() returns the source's number of this thread
// (Source::thread_number); it is called once, when the thread first records into the window.
template <typename LogicalThread>
inline Stream* StreamOf(uint32_t slot, uint64_t generation, const LogicalThread& logical_thread) {
  Stream* stream = KnownStreamOf(slot, generation);
  if (__builtin_expect(stream != nullptr, 1)) return stream;
  return AttachStream(slot, generation, logical_thread());
}

// As above; also null while the binding is paused.
template <typename LogicalThread>
inline Stream* StreamOf(const WindowBinding& binding, const LogicalThread& logical_thread) {
  const uint64_t generation = binding.generation.load(std::memory_order_relaxed);
  return StreamOf(binding.slot.load(std::memory_order_relaxed), generation, logical_thread);
}

}  // namespace opscope

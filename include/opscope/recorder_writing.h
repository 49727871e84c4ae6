// Keeps signal handlers out of a stream that their thread is writing: part of recorder.h's hot path.
//
// A signal handler may record events. If it interrupts its thread between two stores to a Stream, the
// stream is inconsistent, and a lock would deadlock because the handler runs on the same thread. So code
// that changes a stream first replaces the thread's list of free slots by a mark (WritingMark). Every
// begin loads that list anyway. A handler that finds the mark drops its event and counts the drop:
//
//   thread code                                 signal handler on the same thread
//   slots = thread->free_slots
//   thread->free_slots = WritingMark()
//   ... writes a record ...            <-----   begins a scope: IsSlot(free_slots) is false, the event
//   thread->free_slots = slots                  counts as dropped
//
// OpenScopeOn, CloseScope and EndScope of recorder.h set and remove the mark themselves. Other code that
// writes to a stream uses Writing:
//
//   const Writing writing(stream);
//   if (writing.allowed()) AppendRecord(stream, record);
//
// Cost: two stores of the thread to its own memory. No atomic instruction, no system call.
//
// Thread rule: every function acts on the calling thread's own Thread and Stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "opscope/recorder_abi.h"

namespace opscope {

// The value of Thread::free_slots while the thread writes: an odd number that encodes the stack
// address of the writing code. Code of the same thread that finds the mark is a signal handler if it
// runs further down the stack. If it runs further up, a handler left the writing code by siglongjmp
// and the mark is stale.
inline OpenScope* WritingMark() {
#if defined(__x86_64__)
  OpenScope* mark;
  __asm__("lea 1(%%rsp), %0" : "=r"(mark));
  return mark;
#else
  return reinterpret_cast<OpenScope*>(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) | 1u);
#endif
}
// True for a slot, false for NoSlot() and for a WritingMark.
inline bool IsSlot(const OpenScope* slot) {
  return (reinterpret_cast<uintptr_t>(slot) & 1u) == 0;
}
// Stores the free list, as the last or first store of a critical section against handlers of the same
// thread. The signal fences cost nothing; they keep the compiler from moving other stores across.
inline void SetFreeSlots(Thread* thread, OpenScope* slots) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread->free_slots = slots;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// Excludes signal handlers of the calling thread from its streams during its lifetime; their events
// count as dropped. For code that writes to a stream outside OpenScopeOn and EndScope. REQUIRES: the
// calling thread owns the stream.
class Writing {
 public:
  explicit Writing(Stream* stream) : thread_(opscope_tls), slots_(thread_->free_slots) {
    if (OPSCOPE_UNLIKELY(!IsSlot(slots_) && slots_ != NoSlot())) {
      allowed_ = opscope_may_write(stream);
      slots_ = thread_->free_slots;
    }
    if (allowed_) SetFreeSlots(thread_, WritingMark());
  }
  ~Writing() {
    if (allowed_) SetFreeSlots(thread_, slots_);
  }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
  // False: the caller is such a handler. Its event has been counted as dropped; it must not touch the
  // stream.
  bool allowed() const { return allowed_; }

 private:
  Thread* thread_;
  OpenScope* slots_;
  bool allowed_ = true;
};

// The header of the stream's open table. REQUIRES: stream->open_table is not null.
inline OpenTable* OpenTableOf(Stream* stream) {
  return reinterpret_cast<OpenTable*>(stream->open_table) - 1;
}

// Counts a record that will not be written. REQUIRES: the calling thread owns the stream.
__attribute__((noinline)) inline void CountDrop(Stream* stream) {
  stream->dropped.store(stream->dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (stream->open_capacity != 0) __atomic_fetch_add(&OpenTableOf(stream)->dropped, 1, __ATOMIC_RELAXED);
}

// Counts an event that begins on a stream that accepts none, unless its window has closed. Returns
// null. Every begin at the cap ends here, so it takes no lock.
__attribute__((noinline)) inline OpenScope* DropEvent(Stream* stream) {
  // In this order: StopAccepting clears `generation` before `accepting`.
  if (stream->accepting.load(std::memory_order_acquire) != 0 || stream->generation.load() == 0) return nullptr;
  const Writing writing(stream);
  if (writing.allowed()) CountDrop(stream);
  return nullptr;
}

}  // namespace opscope

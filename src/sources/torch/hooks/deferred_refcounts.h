// Deferred reference counts of Python objects. To box an argument is to make an IValue of it, which every operator does
// if its callback wants arguments. From 2.10 on, if Python holds the only reference to a tensor, torch increments the
// count of the tensor's Python object when it boxes the tensor, and decrements it when it destroys the box. Each of the
// two takes the GIL, which the operator has released: 1,050 of the 1,980 instructions that shapes added to `a.add_(b)`.
// The two cancel out, so neither is done: the increment ("raise") puts the object into a cell that all threads see, and
// the decrement ("lower") takes it out.
//
// Why the object stays alive: the caller of an operator keeps its arguments alive until the operator returns. A tensor
// whose references go from one to two is owned by its Python object alone, so the caller holds a count of that object.
//
// Another thread may copy the tensor while it is boxed. Then the destruction of the box lowers nothing, because the
// tensor has another reference, and the deferred raise is still due. It is applied when the operator ends
// (ApplyDeferred), or cancels out with the destruction of the copy, whichever comes first. A cell is one word that is
// exchanged atomically, so each deferred raise cancels exactly one lower or is applied.
//
//   BeginBoxing      an operator is about to box its arguments     (Construct, range_hooks.h)
//   EndBoxing        it has boxed them                             (the start functions, range_callbacks.cc)
//   ApplyDeferred    at the end of an operator that used cells     (Destroy, range_hooks.h)
//
// Torch calls Python through a table of functions (PyInterpreterVTable), whose two entries are patched from the first
// window with arguments until the last window ends. An older torch has no such entries; without them, or if the table
// is not found, torch counts references as usual.
//
// Thread rule: any thread; the functions that say so require GotLock().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace opscope::deferred_refcounts {

#if defined(OPSCOPE_WITHOUT_HOOKS)
inline void EndBoxing() {
}
#else
// State of the calling thread.
struct Boxing {
  uint64_t opening;   // value of `opening` at BeginBoxing; 0: the thread is not boxing
  uint32_t deferred;  // raises since the last ApplyDeferred, the size of `objects` in use
  const void* objects[6];
};
extern __thread Boxing this_thread __attribute__((visibility("hidden")));
// The number of the current Open, different each time; 0: closed.
extern std::atomic<uint64_t> opening __attribute__((visibility("hidden")));

inline void BeginBoxing() {
  this_thread.opening = opening.load(std::memory_order_relaxed);
}
inline void EndBoxing() {
  this_thread.opening = 0;
}
void ApplyDeferred();

// Patches torch's table, if it fits. A thread whose operator has ended and that finds the cells closed calls `again`
// without GotLock(): an earlier Close() may have failed because of that operator. May throw std::bad_alloc. REQUIRES:
// GotLock() is held.
void Open(void (*again)());
// Restores torch's table. False: an operator with a deferred raise is running. The hooks must stay installed until it
// ends, because they apply the raise; then the thread calls `again`. REQUIRES: GotLock() is held.
bool Close();
// Call this in the child of a fork, where no other thread has a deferred raise. REQUIRES: GotLock() is held.
void CloseInChild();
#endif

}  // namespace opscope::deferred_refcounts

// From 2.10 on a tensor that nothing but Python refers to has its object's count raised when a box takes it (an IValue:
// one is made of every argument of an operator whose callback wants arguments) and lowered when the box goes. Each
// asks for the GIL, which the operator has given away: 1,050 of the 1,980 instructions that shapes added to
// `a.add_(b)`. The two cancel out, so they are not done: the first leaves the object in a place that all threads know,
// the second takes it out.
//
// Why the object lives as long: who calls an operator keeps its arguments alive until it returns. A tensor that
// goes from one reference to two is kept by its Python object alone, so that somebody holds a count of this one.
// Another thread may copy the tensor while it is boxed; then the end of the box lowers nothing, and what was left out
// is made up for before the operator ends, or cancels out with the end of that copy, whichever comes first. A place is
// a word that is exchanged: each left out raise meets one left out lowering, or is made up for.
//
//   BeginBoxing    an operator is about to box its arguments      (Construct, range_hooks.h)
//   EndBoxing      it has                                         (the start functions, range_callbacks.cc)
//   MakeUp         at its end, where places were used             (Destroy, range_hooks.h)
//
// torch's table of what it asks of Python points to us from when the first window with arguments opens until the last
// window ends. A torch that asks for none of this, or whose table is not found, pays what it paid before.
//
// Thread rule: any thread; SlotLock() is held by those that say so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace opscope::boxed_references {

#if defined(OPSCOPE_WITHOUT_DROP_INS)
inline void EndBoxing() {
}
#else
// Of one thread.
struct Boxing {
  uint64_t opening;   // of the places, for which it boxes; 0: it does not
  uint32_t left_out;  // raises, since the last MakeUp
  const void* of_which[6];
};
extern __thread Boxing this_thread __attribute__((visibility("hidden")));
// Changes with every opening; 0: closed.
extern std::atomic<uint64_t> opening __attribute__((visibility("hidden")));

inline void BeginBoxing() {
  this_thread.opening = opening.load(std::memory_order_relaxed);
}
inline void EndBoxing() {
  this_thread.opening = 0;
}
void MakeUp();

// Points torch's table to us, where it fits. `again` is called without SlotLock() by a thread whose operator has ended
// and that finds the places closed: a Close() may have waited for it in vain. May throw std::bad_alloc. REQUIRES:
// SlotLock() is held.
void Open(void (*again)());
// Torch has its table back. False: an operator is under way that has left something out. Then its drop-in functions
// have to stay, for it makes up for that, and `again` comes. REQUIRES: SlotLock() is held.
bool Close();
// In the child of a fork, whose other threads are gone. REQUIRES: SlotLock() is held.
void CloseInChild();
#endif

}  // namespace opscope::boxed_references

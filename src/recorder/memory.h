// The recorder's own allocator. Any event may need memory, as the first of its thread or to grow a table, and
// may come at any moment: in a signal handler that interrupted malloc, in a malloc hook, in a child of fork. So
// no path of an event calls malloc. Freed memory goes to a free list for requests of about its size.
//
// Thread rule: any thread, also in signal handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "base/mutex.h"

namespace opscope {

// Aligned to 64 bytes, of any content. Null when memory is short.
void* AllocateMemory(size_t bytes);
// `bytes`: as in AllocateMemory. Null is accepted.
void FreeMemory(void* address, size_t bytes);

template <typename T>
T* MakeInMemory() {
  void* address = AllocateMemory(sizeof(T));
  return address == nullptr ? nullptr : ::new (address) T;
}

// For fork: the lock must not be held by a thread that the child does not have.
void LockMemory() OPSCOPE_UNCHECKED_LOCKS;
void UnlockMemory() OPSCOPE_UNCHECKED_LOCKS;

}  // namespace opscope

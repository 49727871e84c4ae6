// The recorder's own memory. An event may be the first of its thread, or fill a table, at any moment:
// inside a signal handler that interrupted malloc, in a malloc hook, in a child of fork. So nothing that
// an event can reach calls malloc. Freed memory is kept for the next request of about that size.
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
// `bytes` as it was asked for. Null is accepted.
void FreeMemory(void* place, size_t bytes);

template <typename T>
T* MakeInMemory() {
  void* place = AllocateMemory(sizeof(T));
  return place == nullptr ? nullptr : ::new (place) T;
}

// For fork: the lock must not be held by a thread that the child does not have.
void LockMemory() OPSCOPE_UNCHECKED_LOCKS;
void UnlockMemory() OPSCOPE_UNCHECKED_LOCKS;

}  // namespace opscope

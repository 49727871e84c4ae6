// A hook that is called when torch frees a TensorImpl. Torch frees it through the vtable of its class. While a window
// identifies tensors, the entry of the deleting destructor in the vtable of c10::TensorImpl points to the hook; nearly
// all tensors are of that class. The hook is not called for tensors of derived classes.
//
// Thread rule: any thread; the functions that say so require GotLock().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <atomic>

namespace opscope::tensor_free_hook {

// The vtable address of tensors for which the hook is called; null: the hook is not installed.
extern std::atomic<const void*> watched_class __attribute__((visibility("hidden")));

// Whether the hook will be called for this tensor. REQUIRES: the tensor is alive.
inline bool IsWatched(const c10::TensorImpl* tensor) {
  const void* of_class = nullptr;
  __builtin_memcpy(&of_class, tensor, sizeof(of_class));
  return of_class == watched_class.load(std::memory_order_relaxed);
}

// Called on the thread that frees the tensor, before its memory is reused.
using OnFree = void (*)(const c10::TensorImpl* tensor) noexcept;

// Installs the hook. If it does not fit this torch, IsWatched is false for every tensor. May throw std::bad_alloc.
// REQUIRES: GotLock() is held; the process uses one OnFree.
void Watch(OnFree on_free);
void Unwatch();  // REQUIRES: GotLock() is held

}  // namespace opscope::tensor_free_hook

// When the body of a tensor (TensorImpl) dies. Torch deletes it through the table of virtual functions of its class; in
// the table of the class that nearly all are of, c10::TensorImpl itself, the deleting destructor's entry points to us
// while somebody wants to know. Bodies of classes derived from it die unseen.
//
// Thread rule: any thread; SlotLock() is held by those that say so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <atomic>

namespace opscope::body_deaths {

// What the bodies point to whose deaths are told; null: none are.
extern std::atomic<const void*> told_class __attribute__((visibility("hidden")));

// REQUIRES: the body lives.
inline bool AreToldOf(const c10::TensorImpl* body) {
  const void* of_class = nullptr;
  __builtin_memcpy(&of_class, body, sizeof(of_class));
  return of_class == told_class.load(std::memory_order_relaxed);
}

// Who is told: on the thread that deletes the body, before its memory is anybody else's.
using OnDeath = void (*)(const c10::TensorImpl* body) noexcept;

// Where this torch does not let it be done, AreToldOf says so of every body. May throw std::bad_alloc. REQUIRES:
// SlotLock() is held; one OnDeath in the process.
void Watch(OnDeath on_death);
void Unwatch();  // REQUIRES: SlotLock() is held

}  // namespace opscope::body_deaths

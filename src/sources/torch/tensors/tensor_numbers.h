// The number of a tensor's body (TensorImpl). Torch frees and reuses bodies all the time, so an address says little; a
// body gets a number when it is first seen, and keeps it until it dies.
//
// Torch tells when a body of the usual class dies (tensor_free_hook.h). Of another class, and where torch cannot be
// made to tell, a weak reference is held: the body's memory stays, its data does not. Torch's own profiler holds one
// per argument until the end of the window. Here they lie in one table of fixed size, and a new tensor takes the place
// of a dead one, so a recording of any length keeps at most kTensorPlaces bodies (some 200 bytes each). Most tensors
// die young: with each new one that is held some earlier ones are looked at, and the bodies of the dead go back to
// torch while they are still in the processor's caches.
//
// Two threads that see a tensor for the first time in the same moment may give it two numbers. A number matters
// only where a tensor changes its storage; all else is known by the storage.
//
// Thread rule: any thread. NumberOf takes no lock and no memory of its own; torch may free a dead tensor's body.
// StartTensorNumbers and StopTensorNumbers take SlotLock().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "opscope/recorder.h"

namespace opscope {

inline constexpr size_t kTensorPlaces = size_t{1} << 15;

// A part of the source (TorchPart in torch_source.cc), for windows with kTensors. When the last one stops, the table
// lets go of its references.
const char* StartTensorNumbers(uint32_t instance, uint32_t flags);
void StopTensorNumbers(uint32_t instance);
// Bit by instance of those that want them.
uint64_t IdentityInstances();

// Places of bodies that have a number, in sets of a line of the processor's cache. Bodies that lie together have places
// that lie together, so that the table needs few pages; 2 MiB each fill it, and begin somewhere else.
struct TensorTable {
  static constexpr size_t kWays = 8;
  static constexpr size_t kSets = kTensorPlaces / kWays;

  // A body's address and how its death is known. Bodies are aligned, so the lowest bits are free.
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kHeld = 1;  // with a weak reference; without this bit the death is told
  static constexpr uintptr_t kBusy = 2;  // one thread is changing it

  struct alignas(64) Places {
    std::atomic<uintptr_t> of[kWays];
  };
  struct alignas(64) Numbers {
    std::atomic<uint64_t> of[kWays];
  };

  static c10::TensorImpl* BodyIn(uintptr_t word) { return reinterpret_cast<c10::TensorImpl*>(word & ~(kHeld | kBusy)); }
  static size_t SetOf(const c10::TensorImpl* body) {
    const auto bits = reinterpret_cast<uintptr_t>(body);
    static_assert(kSets == size_t{1} << 12);
    return ((bits >> 9) + HashWord(bits >> 21, 12)) % kSets;
  }
  // The place to try first.
  static size_t WayOf(const c10::TensorImpl* body) { return reinterpret_cast<uintptr_t>(body) >> 6 & (kWays - 1); }

  Places places[kSets];
  Numbers numbers[kSets];
};
extern TensorTable tensor_table __attribute__((visibility("hidden")));

// The number of a body that is not in the place to be tried first: it may have none yet. 0: all places are taken.
__attribute__((noinline)) uint64_t NumberElsewhere(c10::TensorImpl* body);

inline uint64_t NumberOf(c10::TensorImpl* body) {
  const size_t set = TensorTable::SetOf(body), way = TensorTable::WayOf(body);
  const uintptr_t word = tensor_table.places[set].of[way].load(std::memory_order_acquire);
  if (__builtin_expect(TensorTable::BodyIn(word) == body, 1))
    return tensor_table.numbers[set].of[way].load(std::memory_order_relaxed);
  return NumberElsewhere(body);
}

}  // namespace opscope

// Numbers that identify tensors. Torch frees and reuses TensorImpl objects all the time, so an address does not
// identify one. A TensorImpl gets a number when an event first names it, and keeps the number until torch frees it.
//
// How a free is noticed. For tensors of the class c10::TensorImpl itself torch calls a hook (tensor_free_hook.h). For
// derived classes, and if the hook does not fit, the table holds a weak reference: torch destroys the tensor's data but
// keeps the TensorImpl (about 200 bytes). Torch's own profiler holds one reference per argument until the window ends.
// This table has a fixed size, and a new tensor takes the entry of a destroyed one, so a recording of any length holds
// at most kTensorEntries references. Most tensors die young: each new tensor that needs a reference also checks two
// recent ones, and releases those that are destroyed while they are still in the processor's caches.
//
// Two threads that see a tensor for the first time at the same moment may give it two numbers. Numbers matter only
// where a tensor changes its storage; everything else is known by the storage.
//
// Thread rule: any thread. NumberOf takes no lock and allocates nothing; torch may free a TensorImpl in it.
// StartTensorNumbers and StopTensorNumbers take GotLock().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "opscope/recorder.h"
#include "sources/torch/callbacks/callback_pool.h"

namespace opscope {

inline constexpr size_t kTensorEntries = size_t{1} << 15;

// A part of the source (TorchPart in torch_source.cc), for windows with kTensors. When the last such window stops, the
// table releases its references.
const char* StartTensorNumbers(uint32_t instance, uint32_t flags);
void StopTensorNumbers(uint32_t instance);
// The instances whose windows have kTensors.
const InstanceSet& IdentityInstances();

// A set-associative table of tensors and their numbers; a set is a cache line. The set follows from the address:
// neighbours in memory are neighbours in the table, so a program that uses few tensors touches few pages of it. 2 MiB
// of addresses fill the table, and the sets of each 2 MiB start at another offset (HashWord).
struct TensorTable {
  static constexpr size_t kWays = 8;
  static constexpr size_t kSets = kTensorEntries / kWays;

  // An entry is the address of a TensorImpl and, in its lowest bits, how its free is noticed.
  static constexpr uintptr_t kFree = 0;
  static constexpr uintptr_t kReferenced = 1;  // by the table's weak reference; without this bit by the hook
  static constexpr uintptr_t kBusy = 2;        // one thread is changing the entry

  struct alignas(64) Entries {
    std::atomic<uintptr_t> of[kWays];
  };
  struct alignas(64) Numbers {
    std::atomic<uint64_t> of[kWays];
  };

  static c10::TensorImpl* TensorIn(uintptr_t word) {
    return reinterpret_cast<c10::TensorImpl*>(word & ~(kReferenced | kBusy));
  }
  static size_t SetOf(const c10::TensorImpl* tensor) {
    const auto bits = reinterpret_cast<uintptr_t>(tensor);
    static_assert(kSets == size_t{1} << 12);
    return ((bits >> 9) + HashWord(bits >> 21, 12)) % kSets;
  }
  // The entry of the set to try first.
  static size_t WayOf(const c10::TensorImpl* tensor) { return reinterpret_cast<uintptr_t>(tensor) >> 6 & (kWays - 1); }

  Entries entries[kSets];
  Numbers numbers[kSets];
};
extern TensorTable tensor_table __attribute__((visibility("hidden")));

// The slow path: searches the whole set, then numbers the tensor. 0: the set is full.
__attribute__((noinline)) uint64_t NumberSlow(c10::TensorImpl* tensor);

inline uint64_t NumberOf(c10::TensorImpl* tensor) {
  const size_t set = TensorTable::SetOf(tensor), way = TensorTable::WayOf(tensor);
  const uintptr_t word = tensor_table.entries[set].of[way].load(std::memory_order_acquire);
  if (__builtin_expect(TensorTable::TensorIn(word) == tensor, 1))
    return tensor_table.numbers[set].of[way].load(std::memory_order_relaxed);
  return NumberSlow(tensor);
}

}  // namespace opscope

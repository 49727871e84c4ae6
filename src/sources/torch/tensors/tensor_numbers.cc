// The table is changed without locks. An entry goes free -> busy -> taken; only the thread that made it busy writes the
// number, and a reader that finds the address in the entry finds its number (release and acquire on the entry).
//
// Only the thread that made an entry busy may examine its referenced tensor: another thread could examine a TensorImpl
// that the first one is about to release. Two small rings, "young" and "older", hold the recently taken entries by
// number, so that a destroyed tensor is found without a scan of 32,768 entries. Two threads may overwrite each other's
// ring slot; then the next new tensor of that set finds the destroyed one.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensors/tensor_numbers.h"

#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <atomic>
#include <new>

#include "base/mutex.h"
#include "opscope/torch_source.h"
#include "sources/got/got_entries.h"
#include "sources/streams/failures.h"
#include "sources/torch/callbacks/callback_pool.h"
#include "sources/torch/tensors/tensor_free_hook.h"

namespace opscope {

constinit TensorTable tensor_table{};

namespace {

using Table = TensorTable;

constinit std::atomic<uint64_t> last_number{0};
constinit InstanceSet identity_instances;  // changed with GotLock()

void DropReference(uintptr_t word) {
  c10::raw::weak_intrusive_ptr::decref(Table::TensorIn(word));
}

// Takes the entry of a referenced tensor that torch has destroyed. True: the entry is busy, and the caller's.
bool ClaimFreed(std::atomic<uintptr_t>* entry) {
  uintptr_t word = entry->load(std::memory_order_relaxed);
  if ((word & Table::kReferenced) == 0 ||
      !entry->compare_exchange_strong(word, Table::kBusy, std::memory_order_acq_rel))
    return false;
  if (c10::raw::weak_intrusive_ptr::use_count(Table::TensorIn(word)) != 0) {
    entry->store(word, std::memory_order_release);
    return false;
  }
  DropReference(word);
  return true;
}

std::atomic<uintptr_t>* EntryAt(size_t index) {
  return &tensor_table.entries[index / Table::kWays].of[index % Table::kWays];
}

// Rings of indexes of recently taken entries with references, by the number of the tensor.
constinit std::atomic<uint16_t> young_entries[64];
constinit std::atomic<uint16_t> older_entries[1024];  // whose tensors were alive at the first check
static_assert(kTensorEntries - 1 <= UINT16_MAX);

// False: the tensor is alive.
bool FreeIfDeleted(uint16_t index) {
  std::atomic<uintptr_t>* entry = EntryAt(index);
  if (entry->load(std::memory_order_relaxed) == Table::kFree) return true;
  if (!ClaimFreed(entry)) return false;
  entry->store(Table::kFree, std::memory_order_release);
  return true;
}

template <size_t Size>
uint16_t Exchange(std::atomic<uint16_t> (&of)[Size], uint64_t number, uint16_t index) {
  std::atomic<uint16_t>& slot = of[number % Size];
  const uint16_t before = slot.load(std::memory_order_relaxed);
  slot.store(index, std::memory_order_relaxed);
  return before;
}

void FreeSomeDeleted(uint64_t number, uint16_t taken) {
  const uint16_t young = Exchange(young_entries, number, taken);
  if (!FreeIfDeleted(young)) FreeIfDeleted(Exchange(older_entries, number, young));
}

// Numbers the tensor. REQUIRES: the caller made the entry busy, and the tensor is alive.
uint64_t Publish(size_t set, size_t way, c10::TensorImpl* tensor) {
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  tensor_table.numbers[set].of[way].store(number, std::memory_order_relaxed);
  const auto word = reinterpret_cast<uintptr_t>(tensor);
  if (tensor_free_hook::IsWatched(tensor)) {
    tensor_table.entries[set].of[way].store(word, std::memory_order_release);
  } else {
    c10::raw::weak_intrusive_ptr::incref(tensor);
    tensor_table.entries[set].of[way].store(word | Table::kReferenced, std::memory_order_release);
    FreeSomeDeleted(number, static_cast<uint16_t>(set * Table::kWays + way));
  }
  return number;
}

uint64_t NumberOfNew(c10::TensorImpl* tensor, size_t set) {
  const size_t first = Table::WayOf(tensor);
  for (size_t i = 0; i < Table::kWays; ++i) {
    const size_t way = (first + i) % Table::kWays;
    uintptr_t word = Table::kFree;
    std::atomic<uintptr_t>& entry = tensor_table.entries[set].of[way];
    const bool is_free = entry.load(std::memory_order_relaxed) == Table::kFree;
    if (is_free && entry.compare_exchange_strong(word, Table::kBusy, std::memory_order_acq_rel))
      return Publish(set, way, tensor);
  }
  for (size_t way = 0; way < Table::kWays; ++way) {
    if (ClaimFreed(&tensor_table.entries[set].of[way])) return Publish(set, way, tensor);
  }
  return 0;
}

// Searches the whole set: two threads may have given the tensor an entry each.
void ForgetTensor(const c10::TensorImpl* tensor) noexcept {
  const auto dead = reinterpret_cast<uintptr_t>(tensor);
  for (std::atomic<uintptr_t>& entry : tensor_table.entries[Table::SetOf(tensor)].of) {
    if (entry.load(std::memory_order_relaxed) == dead) entry.store(Table::kFree, std::memory_order_release);
  }
}

void ForgetAll() {
  for (size_t i = 0; i < kTensorEntries; ++i) {
    std::atomic<uintptr_t>* entry = EntryAt(i);
    uintptr_t word = entry->load(std::memory_order_relaxed);
    if (word == Table::kFree || word == Table::kBusy) continue;
    if (entry->compare_exchange_strong(word, Table::kFree, std::memory_order_acq_rel) &&
        (word & Table::kReferenced) != 0)
      DropReference(word);
  }
}

// Clears the table first: entries that a thread made while the last window stopped had no hook to notice their free.
void StartWatching() {
  ForgetAll();
  try {
    tensor_free_hook::Watch(&ForgetTensor);
  } catch (const std::bad_alloc&) {
    CountFailure();  // without the hook the table references every tensor
  }
}

__attribute__((constructor)) void WatchForksOfTensors() {
  CallInForkedChild([] { identity_instances.Clear(); });
}

}  // namespace

const char* StartTensorNumbers(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kTensors) == 0) return nullptr;
  const MutexLock lock(GotLock());
  if (identity_instances.empty()) StartWatching();
  identity_instances.Add(instance);
  return nullptr;
}

void StopTensorNumbers(uint32_t instance) {
  const MutexLock lock(GotLock());
  if (!identity_instances.Remove(instance)) return;
  tensor_free_hook::Unwatch();
  ForgetAll();
}

const InstanceSet& IdentityInstances() {
  return identity_instances;
}

uint64_t NumberSlow(c10::TensorImpl* tensor) {
  const size_t set = Table::SetOf(tensor);
  for (size_t way = 0; way < Table::kWays; ++way) {
    const uintptr_t word = tensor_table.entries[set].of[way].load(std::memory_order_acquire);
    if (Table::TensorIn(word) == tensor) return tensor_table.numbers[set].of[way].load(std::memory_order_relaxed);
  }
  return NumberOfNew(tensor, set);
}

}  // namespace opscope

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
constinit std::atomic<uint64_t> identity_instances{0};  // bit by instance; written with SlotLock()
static_assert(kCallbackInstances <= 64);

void LetGo(uintptr_t word) {
  c10::raw::weak_intrusive_ptr::decref(Table::BodyIn(word));
}

// Takes the place of a body that is held and dead. Such a body may be looked at only by the thread that has taken its
// place: any other could be about to free it.
bool TakeFromDead(std::atomic<uintptr_t>* place) {
  uintptr_t word = place->load(std::memory_order_relaxed);
  if ((word & Table::kHeld) == 0 || !place->compare_exchange_strong(word, Table::kBusy, std::memory_order_acq_rel))
    return false;
  if (c10::raw::weak_intrusive_ptr::use_count(Table::BodyIn(word)) != 0) {
    place->store(word, std::memory_order_release);
    return false;
  }
  LetGo(word);
  return true;
}

std::atomic<uintptr_t>* PlaceOf(size_t index) {
  return &tensor_table.places[index / Table::kWays].of[index % Table::kWays];
}

// Places of bodies that are held and were taken lately, by the number that each was taken for: a thread that loses a
// place to another here leaves a dead body where it is, for the next tensor that meets it.
constinit std::atomic<uint16_t> young_places[64];
constinit std::atomic<uint16_t> older_places[1024];  // of those that outlived the first look
static_assert(kTensorPlaces - 1 <= UINT16_MAX);

// False: it lives.
bool FreeIfDead(uint16_t index) {
  std::atomic<uintptr_t>* place = PlaceOf(index);
  if (place->load(std::memory_order_relaxed) == Table::kFree) return true;
  if (!TakeFromDead(place)) return false;
  place->store(Table::kFree, std::memory_order_release);
  return true;
}

template <size_t Size>
uint16_t Exchange(std::atomic<uint16_t> (&of)[Size], uint64_t number, uint16_t index) {
  std::atomic<uint16_t>& slot = of[number % Size];
  const uint16_t before = slot.load(std::memory_order_relaxed);
  slot.store(index, std::memory_order_relaxed);
  return before;
}

void FreeSomeDead(uint64_t number, uint16_t taken) {
  const uint16_t young = Exchange(young_places, number, taken);
  if (!FreeIfDead(young)) FreeIfDead(Exchange(older_places, number, young));
}

// REQUIRES: the place is the caller's (Table::kBusy), and `tensor` lives.
uint64_t Settle(size_t set, size_t way, c10::TensorImpl* tensor) {
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  tensor_table.numbers[set].of[way].store(number, std::memory_order_relaxed);
  const auto word = reinterpret_cast<uintptr_t>(tensor);
  if (body_deaths::AreToldOf(tensor)) {
    tensor_table.places[set].of[way].store(word, std::memory_order_release);
  } else {
    c10::raw::weak_intrusive_ptr::incref(tensor);
    tensor_table.places[set].of[way].store(word | Table::kHeld, std::memory_order_release);
    FreeSomeDead(number, static_cast<uint16_t>(set * Table::kWays + way));
  }
  return number;
}

uint64_t NumberOfNew(c10::TensorImpl* body, size_t set) {
  const size_t first = Table::WayOf(body);
  for (size_t i = 0; i < Table::kWays; ++i) {
    const size_t way = (first + i) % Table::kWays;
    uintptr_t word = Table::kFree;
    std::atomic<uintptr_t>& place = tensor_table.places[set].of[way];
    const bool is_free = place.load(std::memory_order_relaxed) == Table::kFree;
    if (is_free && place.compare_exchange_strong(word, Table::kBusy, std::memory_order_acq_rel))
      return Settle(set, way, body);
  }
  for (size_t way = 0; way < Table::kWays; ++way) {
    if (TakeFromDead(&tensor_table.places[set].of[way])) return Settle(set, way, body);
  }
  return 0;
}

// In all its places: two threads may have given it one each.
void ForgetBody(const c10::TensorImpl* body) noexcept {
  const auto dead = reinterpret_cast<uintptr_t>(body);
  for (std::atomic<uintptr_t>& place : tensor_table.places[Table::SetOf(body)].of) {
    if (place.load(std::memory_order_relaxed) == dead) place.store(Table::kFree, std::memory_order_release);
  }
}

void ForgetAll() {
  for (size_t i = 0; i < kTensorPlaces; ++i) {
    std::atomic<uintptr_t>* place = PlaceOf(i);
    uintptr_t word = place->load(std::memory_order_relaxed);
    if (word == Table::kFree || word == Table::kBusy) continue;
    if (place->compare_exchange_strong(word, Table::kFree, std::memory_order_acq_rel) && (word & Table::kHeld) != 0)
      LetGo(word);
  }
}

// What a thread entered while the last window stopped goes first: nobody has told of its death since.
void BeginToWatch() {
  ForgetAll();
  try {
    body_deaths::Watch(&ForgetBody);
  } catch (const std::bad_alloc&) {
    CountFailure();  // bodies are held, then
  }
}

__attribute__((constructor)) void ForgetTheParentsWindows() {
  WatchForksOfSlots([] { identity_instances.store(0); });
}

}  // namespace

const char* StartTensorNumbers(uint32_t instance, uint32_t flags) {
  if ((flags & torch_source_flags::kTensors) == 0) return nullptr;
  const MutexLock lock(SlotLock());
  if (identity_instances.load() == 0) BeginToWatch();
  identity_instances.fetch_or(uint64_t{1} << instance);
  return nullptr;
}

void StopTensorNumbers(uint32_t instance) {
  const MutexLock lock(SlotLock());
  const uint64_t bit = uint64_t{1} << instance;
  if (identity_instances.fetch_and(~bit) != bit) return;
  body_deaths::Unwatch();
  ForgetAll();
}

uint64_t IdentityInstances() {
  return identity_instances.load(std::memory_order_relaxed);
}

uint64_t NumberElsewhere(c10::TensorImpl* body) {
  const size_t set = Table::SetOf(body);
  for (size_t way = 0; way < Table::kWays; ++way) {
    const uintptr_t word = tensor_table.places[set].of[way].load(std::memory_order_acquire);
    if (Table::BodyIn(word) == body) return tensor_table.numbers[set].of[way].load(std::memory_order_relaxed);
  }
  return NumberOfNew(body, set);
}

}  // namespace opscope

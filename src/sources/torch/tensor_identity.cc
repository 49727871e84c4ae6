// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensor_identity.h"

#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>
#include <pthread.h>

#include <atomic>

#include "sources/torch/callback_bank.h"

namespace opscope {
namespace {

constexpr size_t kProbes = 8;  // places that a tensor may have; 128 bytes

struct TensorPlace {
  std::atomic<c10::TensorImpl*> tensor{nullptr};  // with a weak reference
  std::atomic<uint64_t> number{0};
};
constinit TensorPlace tensor_places[kTensorPlaces];
constinit std::atomic<uint64_t> last_number{0};
constinit std::atomic<uint64_t> identity_instances{0};  // bit by instance
static_assert(kCallbackInstances <= 64);

// In a place that one thread is changing. Never an address of a tensor.
c10::TensorImpl* Busy() {
  return reinterpret_cast<c10::TensorImpl*>(uintptr_t{1});
}

void LetGo(c10::TensorImpl* tensor) {
  c10::raw::weak_intrusive_ptr::decref(tensor);
}

// Takes the place of a dead tensor. A body may be looked at only by the thread that has taken its place: any other
// could be about to free it.
bool TakeFromDead(TensorPlace* place) {
  c10::TensorImpl* held = place->tensor.load(std::memory_order_relaxed);
  if (held == Busy() || !place->tensor.compare_exchange_strong(held, Busy(), std::memory_order_acq_rel)) return false;
  if (held == nullptr) return true;
  if (c10::raw::weak_intrusive_ptr::use_count(held) != 0) {
    place->tensor.store(held, std::memory_order_release);
    return false;
  }
  LetGo(held);
  return true;
}

// Places that were taken lately, by the number that each was taken for: a thread that loses a place to another here
// leaves a dead body where it is, for the next tensor that meets it.
constinit std::atomic<uint16_t> young_places[64];
constinit std::atomic<uint16_t> older_places[1024];  // of those that outlived the first look
static_assert(kTensorPlaces - 1 <= UINT16_MAX);

// False: it lives.
bool FreeIfDead(uint16_t index) {
  TensorPlace* place = &tensor_places[index];
  if (place->tensor.load(std::memory_order_relaxed) == nullptr) return true;
  if (!TakeFromDead(place)) return false;
  place->tensor.store(nullptr, std::memory_order_release);
  return true;
}

template <size_t Size>
uint16_t Exchange(std::atomic<uint16_t> (&places)[Size], uint64_t number, uint16_t index) {
  std::atomic<uint16_t>& slot = places[number % Size];
  const uint16_t before = slot.load(std::memory_order_relaxed);
  slot.store(index, std::memory_order_relaxed);
  return before;
}

void FreeSomeDead(uint64_t number, uint16_t taken) {
  const uint16_t young = Exchange(young_places, number, taken);
  if (!FreeIfDead(young)) FreeIfDead(Exchange(older_places, number, young));
}

// REQUIRES: the place is the caller's (Busy), and `tensor` lives.
uint64_t Settle(TensorPlace* place, c10::TensorImpl* tensor) {
  c10::raw::weak_intrusive_ptr::incref(tensor);
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  place->number.store(number, std::memory_order_relaxed);
  place->tensor.store(tensor, std::memory_order_release);
  FreeSomeDead(number, static_cast<uint16_t>(place - tensor_places));
  return number;
}

// Bodies that lie together have places that lie together, so that the table needs few pages; 2 MiB each fill it, and
// begin somewhere else.
inline size_t FirstPlaceOf(const c10::TensorImpl* tensor) {
  const auto bits = reinterpret_cast<uintptr_t>(tensor);
  static_assert(kTensorPlaces == size_t{1} << (64 - 49));
  return (bits >> 6) + (((bits >> 21) * 0x9e3779b97f4a7c15u) >> 49);
}

inline TensorPlace* PlaceOf(size_t first, size_t probe) {
  return &tensor_places[(first + probe) % kTensorPlaces];
}

__attribute__((noinline)) uint64_t NumberOfNew(c10::TensorImpl* tensor, size_t first) {
  for (size_t probe = 0; probe < kProbes; ++probe) {
    TensorPlace* place = PlaceOf(first, probe);
    const bool is_free = place->tensor.load(std::memory_order_relaxed) == nullptr;
    if (is_free && TakeFromDead(place)) return Settle(place, tensor);
  }
  for (size_t probe = 0; probe < kProbes; ++probe) {
    if (TakeFromDead(PlaceOf(first, probe))) return Settle(PlaceOf(first, probe), tensor);
  }
  return 0;
}

inline uint64_t NumberOf(c10::TensorImpl* tensor) {
  const size_t first = FirstPlaceOf(tensor);
  for (size_t probe = 0; probe < kProbes; ++probe) {  // all of them: places before a tensor's own may have become free
    const TensorPlace* place = PlaceOf(first, probe);
    if (place->tensor.load(std::memory_order_acquire) == tensor) return place->number.load(std::memory_order_relaxed);
  }
  return NumberOfNew(tensor, first);
}

void ForgetAll() {
  for (TensorPlace& place : tensor_places) {
    c10::TensorImpl* held = place.tensor.load(std::memory_order_relaxed);
    if (held == nullptr || held == Busy()) continue;
    if (place.tensor.compare_exchange_strong(held, nullptr, std::memory_order_acq_rel)) LetGo(held);
  }
}

__attribute__((constructor)) void ForgetTheParentsWindows() {
  pthread_atfork(nullptr, nullptr, [] { identity_instances.store(0); });
}

}  // namespace

void StartIdentities(uint32_t instance) {
  identity_instances.fetch_or(uint64_t{1} << instance);
}

void StopIdentities(uint32_t instance) {
  const uint64_t bit = uint64_t{1} << instance;
  const uint64_t before = identity_instances.fetch_and(~bit);
  if (before == bit) ForgetAll();
}

uint64_t IdentityInstances() {
  return identity_instances.load(std::memory_order_relaxed);
}

namespace {

__attribute__((always_inline)) inline TensorIdentity IdentityWith(c10::TensorImpl* tensor, uint64_t number) {
  TensorIdentity identity;
  if (tensor->unsafe_storage()) {  // null where has_storage(), a virtual call, says that there is none
    const c10::StorageImpl* storage = tensor->unsafe_storage().unsafeGetStorageImpl();
    // Looks without the checks that throw for storages that must not be touched.
    identity.storage =
        reinterpret_cast<uintptr_t>(const_cast<c10::StorageImpl*>(storage)->_mutable_data_ptr_no_checks().get());
  }
  const c10::Device device = tensor->device();
  identity.tensor = PackTensor(number, static_cast<uint8_t>(device.type()), device.index());
  return identity;
}

}  // namespace

TensorIdentity IdentityOf(c10::TensorImpl* tensor) {
  return IdentityWith(tensor, NumberOf(tensor));
}

TensorIdentity IdentityOf(c10::TensorImpl* tensor, c10::Layout layout) {
  switch (layout) {
    case c10::Layout::SparseCsr:
    case c10::Layout::SparseCsc:
    case c10::Layout::SparseBsr:
    case c10::Layout::SparseBsc:
      return IdentityWith(tensor, 0);
    default:
      return IdentityOf(tensor);
  }
}

void TensorIdentities::AddToMany(const TensorIdentity& identity) {
  if (many_.empty()) {
    many_.resize(kFew);
    std::memcpy(many_.data(), few_, sizeof(few_));
  }
  many_.push_back(identity);
  ++count_;
}

}  // namespace opscope

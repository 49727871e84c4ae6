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

// REQUIRES: the place is the caller's (Busy), and `tensor` lives.
uint64_t Settle(TensorPlace* place, c10::TensorImpl* tensor) {
  c10::raw::weak_intrusive_ptr::incref(tensor);
  const uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  place->number.store(number, std::memory_order_relaxed);
  place->tensor.store(tensor, std::memory_order_release);
  return number;
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

uint64_t NumberOf(c10::TensorImpl* tensor) {
  const uint64_t hash = (reinterpret_cast<uintptr_t>(tensor) >> 4) * 0x9e3779b97f4a7c15u;
  const size_t first = hash >> 49;
  static_assert(kTensorPlaces == size_t{1} << (64 - 49));
  const auto at = [first](size_t probe) { return &tensor_places[(first + probe) % kTensorPlaces]; };
  size_t probe = 0;
  for (; probe < kProbes; ++probe) {
    const c10::TensorImpl* held = at(probe)->tensor.load(std::memory_order_acquire);
    if (held == tensor) return at(probe)->number.load(std::memory_order_relaxed);
    if (held == nullptr) break;
  }
  if (probe < kProbes && TakeFromDead(at(probe))) return Settle(at(probe), tensor);
  for (probe = 0; probe < kProbes; ++probe) {
    if (TakeFromDead(at(probe))) return Settle(at(probe), tensor);
  }
  return 0;
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

TensorIdentity IdentityOf(c10::TensorImpl* tensor) {
  TensorIdentity identity;
  if (tensor->has_storage() && tensor->unsafe_storage()) {
    const c10::StorageImpl* storage = tensor->unsafe_storage().unsafeGetStorageImpl();
    // Looks without the checks that throw for storages that must not be touched.
    identity.storage =
        reinterpret_cast<uintptr_t>(const_cast<c10::StorageImpl*>(storage)->_mutable_data_ptr_no_checks().get());
  }
  const c10::Device device = tensor->device();
  identity.tensor = PackTensor(NumberOf(tensor), static_cast<uint8_t>(device.type()), device.index());
  return identity;
}

void TensorIdentities::Add(const at::Tensor& tensor) {
  c10::TensorImpl* body = tensor.unsafeGetTensorImpl();
  if (!tensor.defined() || body->is_nested() || body->has_symbolic_sizes_strides()) return;
  const TensorIdentity identity = IdentityOf(body);
  if (many_.empty() && count_ < few_.size()) {
    few_[count_++] = identity;
    return;
  }
  if (many_.empty()) many_.assign(few_.begin(), few_.end());
  many_.push_back(identity);
  ++count_;
}

void TensorIdentities::Collect(c10::ArrayRef<const c10::IValue> inputs) {
  for (const c10::IValue& value : inputs.slice(0, std::min<size_t>(inputs.size(), 0xffff))) {
    if (value.isTensor()) {
      Add(value.toTensor());
    } else if (value.isTensorList()) {
      const c10::ArrayRef<c10::IValue> list = value.toListRef();
      if (list.size() > 0xffff) continue;
      for (const c10::IValue& each : list)
        Add(each.toTensor());
    }
  }
}

}  // namespace opscope

// Which tensor an argument is: its number (tensor_numbers.h), its device, and the address of its data.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "opscope/record.h"
#include "sources/torch/tensors/tensor_numbers.h"

namespace opscope {

// REQUIRES: as IdentityOf.
__attribute__((always_inline)) inline TensorIdentity IdentityWith(c10::TensorImpl* tensor, uint64_t number) {
  TensorIdentity identity;
  if (tensor->unsafe_storage()) {  // as has_storage(), which is a virtual call
    const c10::StorageImpl* storage = tensor->unsafe_storage().unsafeGetStorageImpl();
    // The checked accessor throws for storages without accessible data.
    identity.storage =
        reinterpret_cast<uintptr_t>(const_cast<c10::StorageImpl*>(storage)->_mutable_data_ptr_no_checks().get());
  }
  const c10::Device device = tensor->device();
  identity.tensor = PackTensor(number, static_cast<uint8_t>(device.type()), device.index());
  return identity;
}

// REQUIRES: the tensor is defined and alive, and neither nested nor symbolic.
TensorIdentity IdentityOf(c10::TensorImpl* tensor);
// As above, for any layout. A compressed sparse tensor gets no number: its TensorImpl owns its member tensors, so a
// weak reference would keep their memory alive.
TensorIdentity IdentityOf(c10::TensorImpl* tensor, c10::Layout layout);

// Identities of the arguments of one call.
class TensorIdentities {
 public:
  // REQUIRES: as IdentityOf. May throw what torch's accessors throw.
  void Add(c10::TensorImpl* tensor) { Add(IdentityOf(tensor)); }
  void Add(const TensorIdentity& identity) {
    if (__builtin_expect(count_ < kFew, 1)) {
      std::memcpy(few_ + count_++ * sizeof(identity), &identity, sizeof(identity));
    } else {
      AddToMany(identity);
    }
  }
  void Clear() {
    count_ = 0;
    many_.clear();
  }
  const void* data() const { return many_.empty() ? few_ : static_cast<const void*>(many_.data()); }
  uint32_t size() const { return count_; }
  uint32_t bytes() const { return count_ * uint32_t{sizeof(TensorIdentity)}; }

 private:
  static constexpr uint32_t kFew = 16;

  void AddToMany(const TensorIdentity& identity);

  uint32_t count_ = 0;
  alignas(TensorIdentity) std::byte few_[kFew * sizeof(TensorIdentity)];  // raw bytes: not initialised
  std::vector<TensorIdentity> many_;  // all identities, once there are more than kFew (foreach operators)
};

}  // namespace opscope

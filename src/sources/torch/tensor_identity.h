// Which tensor an argument is. Torch frees and reuses the bodies of tensors (TensorImpl) all the time, so an address
// says little; a body gets a number when it is first seen, and keeps it until it dies.
//
// To know that it has died, a weak reference is held: the body's memory stays, its data does not. Torch's own profiler
// holds one per argument until the end of the window. Here they lie in one table of fixed size, and a new tensor takes
// the place of a dead one, so a recording of any length keeps at most kTensorPlaces bodies (some 200 bytes each). Most
// tensors die young: with each new one some earlier ones are looked at, and the bodies of the dead go back to torch
// while they are still in the processor's caches.
//
// Two threads that see a tensor for the first time in the same moment may give it two numbers. A number matters
// only where a tensor changes its storage; all else is known by the storage.
//
// Thread rule: any thread. No lock, no memory of its own; torch may free a dead tensor's body.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/TensorImpl.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "opscope/record.h"

namespace opscope {

inline constexpr size_t kTensorPlaces = size_t{1} << 15;

// A window of this armed instance wants identities; when the last one stops, the references go.
void StartIdentities(uint32_t instance);
void StopIdentities(uint32_t instance);
// Bit by instance of those that want them.
uint64_t IdentityInstances();

// REQUIRES: the tensor is defined and neither nested nor symbolic, and lives.
TensorIdentity IdentityOf(c10::TensorImpl* tensor);
// Of a tensor that may have another layout than strides. One that is sparse and compressed gets no number: its body
// keeps what it is made of, so a weak reference would hold that memory.
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
  alignas(TensorIdentity) std::byte few_[kFew * sizeof(TensorIdentity)];  // bytes: nothing is set before it is used
  std::vector<TensorIdentity> many_;  // instead, for the long lists of foreach operators
};

}  // namespace opscope

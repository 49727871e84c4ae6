// Which tensor an argument is. Torch frees and reuses the bodies of tensors (TensorImpl) all the time, so an address
// says little; a body gets a number when it is first seen, and keeps it until it dies.
//
// To know that it has died, a weak reference is held: the body's memory stays, its data does not. Torch's own profiler
// holds one per argument until the end of the window. Here they lie in one table of fixed size, and a new tensor takes
// the place of a dead one, so a recording of any length keeps at most kTensorPlaces bodies (some 200 bytes each).
//
// Two threads that see a tensor for the first time in the same moment may give it two numbers. A number matters
// only where a tensor changes its storage; all else is known by the storage.
//
// Thread rule: any thread. No lock, no memory of its own; torch may free a dead tensor's body.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <array>
#include <cstddef>
#include <cstdint>
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

// Identities of the arguments of one call.
class TensorIdentities {
 public:
  // As many as the encoder (argument_encoder.h) writes kTensor. May throw what torch's accessors throw.
  void Collect(c10::ArrayRef<const c10::IValue> inputs);
  const TensorIdentity* data() const { return many_.empty() ? few_.data() : many_.data(); }
  uint32_t size() const { return count_; }
  uint32_t bytes() const { return count_ * uint32_t{sizeof(TensorIdentity)}; }

 private:
  void Add(const at::Tensor& tensor);

  uint32_t count_ = 0;
  std::array<TensorIdentity, 16> few_;
  std::vector<TensorIdentity> many_;  // instead, for the long lists of foreach operators
};

}  // namespace opscope

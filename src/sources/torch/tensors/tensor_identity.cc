// Most operators have few tensors, so TensorIdentities stores up to 16 identities in the object. With more, a vector
// holds all of them.
// SPDX-License-Identifier: Apache-2.0
#include "sources/torch/tensors/tensor_identity.h"

#include <c10/core/TensorImpl.h>

namespace opscope {

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

// Writes the arguments of one torch call as the words that record.h describes (ArgKind). Reads the
// IValues in place: no reference is taken, so no tensor outlives its call because of a recording.
// What is kept follows torch's own profiler (specs of record_shapes): nested, symbolic and undefined
// tensors have no shape, lists of scalars are kept up to 30 values, anything else is kOther.
//
// Thread rule: any thread; touches nothing but its arguments and the table of tensors. May throw what torch's accessors
// throw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>

#include "sources/torch/tensors/tensor_identity.h"

namespace opscope {

struct EncodedArguments {
  uint32_t words = 0;  // needed; when more than the capacity, the words are incomplete: call again with room
  uint16_t count = 0;  // arguments
};

// tensors: gets the identity of each that is written as kTensor; may be null.
EncodedArguments EncodeArguments(c10::ArrayRef<const c10::IValue> inputs, uint32_t* out, uint32_t capacity,
                                 TensorIdentities* tensors);

}  // namespace opscope

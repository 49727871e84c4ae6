// Writes the arguments of one torch call as the words that record.h describes (ArgKind). It reads the IValues in place
// and takes no references, so a recording keeps no tensor alive.
//
// The rules are those of torch's own profiler (record_shapes): nested, symbolic and undefined tensors have no shape,
// lists of scalars are recorded up to 30 values, anything else is kOther.
//
// Thread rule: any thread; reads and writes only its arguments and the table of tensor numbers. May throw what torch's
// accessors throw.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>

#include "sources/torch/tensors/tensor_identity.h"

namespace opscope {

struct EncodedArguments {
  uint32_t words = 0;  // size of the encoding; if it exceeds the capacity, the rest was not written: call again
  uint16_t count = 0;  // number of arguments
};

// tensors: collects the identity of each argument that is written as kTensor; may be null.
EncodedArguments EncodeArguments(c10::ArrayRef<const c10::IValue> inputs, uint32_t* out, uint32_t capacity,
                                 TensorIdentities* tensors);

}  // namespace opscope

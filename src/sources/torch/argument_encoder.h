// Writes the arguments of one torch call as the words that record.h describes (ArgKind). Reads the
// IValues in place: no reference is taken, so no tensor outlives its call because of a recording.
// What is kept follows torch's own profiler (specs of record_shapes): nested, symbolic and undefined
// tensors have no shape, lists of scalars are kept up to 30 values, anything else is kOther.
//
// Thread rule: any thread; touches nothing but its arguments and the table of tensors. May throw what torch's accessors
// throw. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>

#include "sources/torch/tensor_identity.h"

namespace opscope {

// Longer lists of scalars are kOther, as in torch (SCALAR_LIST_LENGTH_LIMIT).
inline constexpr size_t kMaxScalarListLength = 30;

struct EncodedArguments {
  uint32_t words = 0;  // needed; when more than the capacity, the words are incomplete: call again with room
  uint16_t count = 0;  // arguments
};

// tensors: gets the identity of each that is written as kTensor; may be null.
EncodedArguments EncodeArguments(c10::ArrayRef<const c10::IValue> inputs, uint32_t* out, uint32_t capacity,
                                 TensorIdentities* tensors);

// Whether their encoding is just these words, which encode as many arguments. Runs no code of others: arguments that
// would have to be asked, or that are rare, give false. Apart: it would be compiled into every start function.
__attribute__((noinline)) bool AreEncodedAs(c10::ArrayRef<const c10::IValue> inputs, const uint32_t* words);

// Equal for arguments that are encoded alike, mostly different for others, and the address of nothing: its first bit is
// set. 0: AreEncodedAs looks through none of this kind.
__attribute__((noinline)) uint64_t KeyOf(c10::ArrayRef<const c10::IValue> inputs);

}  // namespace opscope

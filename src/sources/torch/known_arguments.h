// Whether the arguments of a call are those of an earlier one, of which the words are there: nothing is encoded then.
//
// Thread rule: any thread; touches nothing but its arguments.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>

namespace opscope {

// Whether their encoding is just these words, which encode as many arguments. Runs no code of others: arguments that
// would have to be asked, or that are rare, give false. Apart: it would be compiled into every start function.
__attribute__((noinline)) bool AreEncodedAs(c10::ArrayRef<const c10::IValue> inputs, const uint32_t* words);

// Equal for arguments that are encoded alike, mostly different for others, and the address of nothing: its first bit is
// set. 0: AreEncodedAs looks through none of this kind.
__attribute__((noinline)) uint64_t KeyOf(c10::ArrayRef<const c10::IValue> inputs);

}  // namespace opscope

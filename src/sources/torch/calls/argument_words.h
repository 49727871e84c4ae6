// The words of an encoded argument, for the encoder and for the fast path (fast_path.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>

#include "opscope/record.h"

namespace opscope {

// A longer list of scalars is kOther, as in torch (SCALAR_LIST_LENGTH_LIMIT).
inline constexpr size_t kMaxScalarListLength = 30;

// The first word of an argument.
constexpr uint32_t ArgumentTag(ArgKind kind, uint64_t count = 0, uint32_t flags = 0, uint32_t element = 0) {
  return static_cast<uint32_t>(kind) | (element & 0xffu) << 4 | flags | static_cast<uint32_t>(count) << 16;
}

// As value.toInt(), without its call for symbolic integers. REQUIRES: value.isInt().
__attribute__((flatten)) inline int64_t IntOf(const c10::IValue& value) {
  if (!value.isInt()) __builtin_unreachable();
  return value.toInt();
}
// REQUIRES: isBool().
__attribute__((flatten)) inline bool BoolOf(const c10::IValue& value) {
  if (!value.isBool()) __builtin_unreachable();
  return value.toBool();
}

// Encodes a strided tensor whose numbers fit 32 bits. Writes sizes and strides in one pass, and leaves the strides out
// of the result when they follow from the sizes. Returns the number of words; 0: a number needs 64 bits. A tensor with
// an empty dimension keeps its strides: torch counts that dimension as one when it computes dense strides, a plain
// product does not. REQUIRES: room for 1 + 2 * sizes.size() words.
__attribute__((always_inline)) inline uint32_t PutSmallTensor(uint32_t* out, c10::IntArrayRef sizes,
                                                              c10::IntArrayRef strides, uint32_t element) {
  const size_t count = sizes.size();
  uint64_t out_of_range = 0;
  int64_t expected = 1;
  bool dense = true;
#pragma GCC unroll 1
  for (size_t i = count; i-- > 0;) {
    const int64_t size = sizes[i];
    const int64_t stride = strides[i];
    out_of_range |= static_cast<uint64_t>(size) | static_cast<uint64_t>(stride);
    dense = dense && stride == expected && (size != 0 || i == 0);
    expected *= size;
    out[1 + i] = static_cast<uint32_t>(size);
    out[1 + count + i] = static_cast<uint32_t>(stride);
  }
  if ((out_of_range >> 31) != 0) return 0;
  out[0] = ArgumentTag(ArgKind::kTensor, count, dense ? arg_flags::kContiguous : 0, element);
  return static_cast<uint32_t>(1 + (dense ? count : 2 * count));
}

}  // namespace opscope

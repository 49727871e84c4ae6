// What the words of an encoded argument are made of, for who writes them and who compares with them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <cstdint>

#include "opscope/record.h"

namespace opscope {

// Longer lists of scalars are kOther, as in torch (SCALAR_LIST_LENGTH_LIMIT).
inline constexpr size_t kMaxScalarListLength = 30;

// The first word of an argument.
constexpr uint32_t ArgumentTag(ArgKind kind, uint64_t count = 0, uint32_t flags = 0, uint32_t element = 0) {
  return static_cast<uint32_t>(kind) | (element & 0xffu) << 4 | flags | static_cast<uint32_t>(count) << 16;
}

// REQUIRES: isInt(). Without the look at symbolic integers, for which toInt() is a call.
__attribute__((flatten)) inline int64_t IntOf(const c10::IValue& value) {
  if (!value.isInt()) __builtin_unreachable();
  return value.toInt();
}

}  // namespace opscope

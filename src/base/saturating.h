// Arithmetic that saturates: times of a damaged file add up to anything, and a sum that wrapped around
// would look short.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// Associative for non-negative numbers, so threads may add in any order.
inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

inline int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : product;
}

inline int64_t SaturatingAbs(int64_t value) {
  return value < 0 ? SaturatingSubtract(0, value) : value;
}

// Truncates towards zero; NaN gives 0.
inline int64_t ClampToInt64(double value) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (value >= kBeyond) return INT64_MAX;
  if (value <= -kBeyond) return INT64_MIN;
  return value == value ? static_cast<int64_t>(value) : 0;
}

// Wrap around in two's complement. For numbers from a file, whose writers wrapped too.
inline int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t WrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace opscope

// A slice of a Trace's column as the numbers of a wire column: ids plus one, signed numbers and times
// as their 64 bits, doubles as their bits.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "opscope/trace.h"
#include "opscope/types.h"

namespace opscope {

template <typename T>
uint64_t WireValue(T value) {
  if constexpr (std::is_same_v<T, Timestamp> || std::is_same_v<T, Duration>) {
    return static_cast<uint64_t>(value.ns);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(uint32_t)) {
    return static_cast<uint32_t>(static_cast<uint32_t>(value) + 1);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
}

template <typename T>
std::vector<uint64_t> WireValues(std::span<const T> column, size_t first, size_t count) {
  std::vector<uint64_t> values;
  values.reserve(count);
  for (const T& value : column.subspan(first, count))
    values.push_back(WireValue(value));
  return values;
}

}  // namespace opscope

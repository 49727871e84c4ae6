// Converts slices of a Trace's columns to the 64-bit integers that a column encoder takes: ids plus one (0:
// none), signed numbers and times as their bits, doubles as their bits.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "opscope/trace_tables.h"
#include "opscope/types.h"
#include "wire/table_block.h"

namespace opscope {

template <typename T>
constexpr uint64_t WireValue(T value) {
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
bool AllAre(uint64_t value, std::span<const T> rows) {
  return std::all_of(rows.begin(), rows.end(), [value](T row) { return WireValue(row) == value; });
}

template <typename T>
void CopyWireValues(std::span<const T> rows, uint64_t* values) {
  for (size_t i = 0; i < rows.size(); ++i)
    values[i] = WireValue(rows[i]);
}

template <typename T>
void AddWireColumn(uint32_t column, std::span<const T> rows, ColumnEncoding encoding, TableBlockWriter* block) {
  CopyWireValues(rows, block->Scratch(rows.size()).data());
  block->AddScratch(column, rows.size(), encoding);
}

// The absent value of a column: no id, or the default. A column with this value in every row is not written.
template <typename Column>
constexpr uint64_t AbsentValue() {
  using T = typename Column::Type;
  if constexpr (std::is_enum_v<T> && sizeof(T) == sizeof(uint32_t)) return WireValue(T::kNone);
  return WireValue(Column::kDefault);
}

}  // namespace opscope

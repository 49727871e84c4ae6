// How the values of a column are transformed before `.opscope` files store them.
// trace_tables.def chooses per column; files name the encoding per column.
// src/wire/column_codec.h stores the result.
//
//   values 10, 12, 11 as kDelta: 20, 4, 1 (zigzag of +10, +2, -1)
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

// The numbers stand in files.
enum class ColumnEncoding : uint8_t {
  // Unchanged: ids, bits of doubles.
  kPlain = 0,
  // Zigzag: small negative numbers become small.
  kSigned = 1,
  // Zigzag of the difference to the previous row; the first row's to 0.
  kDelta = 2,
  // 0 for -1, else 1 + zigzag of the difference to the last value that was not -1.
  kSparseDelta = 3,
};

}  // namespace opscope

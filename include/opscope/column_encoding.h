// How the values of a column are changed before `.opscope` files store them. trace_tables.def chooses per column, files
// say it per column.
//
// Thread rule: plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

enum class ColumnEncoding : uint8_t {
  kPlain = 0,        // as they are (ids, bits of doubles)
  kSigned = 1,       // zigzag
  kDelta = 2,        // zigzag of the difference to the previous row, the first to 0
  kSparseDelta = 3,  // 0 for -1, else 1 + zigzag of the difference to the last value that was not -1
};

}  // namespace opscope

// Maps rows of a file to ids of a Trace, in vectors whose size a wrong row number must not inflate.
//
// Thread rule: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

// The largest valid row number; a table with more rows would not fit its 32-bit ids.
inline constexpr uint64_t kMaxRow = 0xfffffffe;

// Sets the id of `row` in a map from rows of the file. Rows may be missing before it, but not more than lost blocks of
// the largest size could have had: a wrong number must not cost memory.
template <typename Id>
bool PlaceRow(uint64_t row, Id id, Id none, std::vector<Id>* map) {
  constexpr uint64_t kLargestHole = uint64_t{1} << 24;
  if (row > kMaxRow || row > map->size() + kLargestHole) return false;
  if (row >= map->size()) map->resize(static_cast<size_t>(row) + 1, none);
  (*map)[static_cast<size_t>(row)] = id;
  return true;
}

}  // namespace opscope

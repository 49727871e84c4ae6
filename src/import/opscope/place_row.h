// Maps from rows of a file to ids of a Trace, by vectors that a lying row number must not make large.
//
// Thread rule: plain functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

// Largest number of a row that is believed; a table of more would not fit its 32-bit ids.
inline constexpr uint64_t kMaxRow = 0xfffffffe;

// Puts `id` at `row` of a map from rows of the file. Rows may be missing before it, but no more than one block of
// the largest size after another can have lost: a lying number must not cost memory.
template <typename Id>
bool PlaceRow(uint64_t row, Id id, Id none, std::vector<Id>* map) {
  constexpr uint64_t kLargestHole = uint64_t{1} << 24;
  if (row > kMaxRow || row > map->size() + kLargestHole) return false;
  if (row >= map->size()) map->resize(static_cast<size_t>(row) + 1, none);
  (*map)[static_cast<size_t>(row)] = id;
  return true;
}

}  // namespace opscope

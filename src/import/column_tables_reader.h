// Reads the columns of one block, one after the other, and remembers whether all were sound.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "import/column_tables.h"

namespace opscope {

class ColumnTables::Reader {
 public:
  // rows_of: the column that is always written; its rows are the block's.
  Reader(const TableBlock& block, uint32_t rows_of) : block_(block), rows_(block.rows(rows_of)) {}

  Values Read(uint32_t column, uint64_t absent) {
    Values values;
    ok_ &= block_.Read(column, rows_, absent, &values);
    return values;
  }
  // Number of the block's first row.
  uint64_t FirstRow() {
    Values values;
    ok_ &= block_.Read(0, 1, 0, &values);
    return ok_ ? values[0] : 0;
  }
  size_t rows() const { return rows_; }
  bool ok() const { return ok_; }

 private:
  const TableBlock& block_;
  size_t rows_;
  bool ok_ = true;
};

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

inline constexpr int64_t Signed(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace opscope

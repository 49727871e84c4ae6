// Reads the columns of one block, one after the other, and remembers whether all were valid.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/schema.h"
#include "wire/table_block.h"

namespace opscope {

using ColumnValues = std::vector<uint64_t>;

class ColumnReader {
 public:
  // rows_of: the column that is always written; its length is the block's number of rows.
  ColumnReader(const TableBlock& block, uint32_t rows_of) : block_(block), rows_(block.rows(rows_of)) {}

  // absent: the value of every row if the column is not in the file.
  ColumnValues Read(uint32_t column, uint64_t absent) {
    ColumnValues values;
    ok_ &= block_.Read(column, rows_, absent, &values);
    return values;
  }
  // Number of the block's first row.
  uint64_t FirstRow() {
    ColumnValues values;
    ok_ &= block_.Read(wire::kFirstRow, 1, 0, &values);
    return ok_ ? values[0] : 0;
  }
  size_t rows() const { return rows_; }
  bool ok() const { return ok_; }

 private:
  const TableBlock& block_;
  size_t rows_;
  bool ok_ = true;
};

inline constexpr int64_t Signed(uint64_t value) {
  return static_cast<int64_t>(value);
}

}  // namespace opscope

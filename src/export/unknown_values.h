// Visits the values of a column that may be unknown, with their integer type resolved.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "opscope/table.h"

namespace opscope {

// Returns visit(values, unknown): the `rows` values of the column as unsigned integers of their width, and the one of
// them that means "unknown". Returns `otherwise` if every value of the column is known.
template <typename Result, typename Visit>
Result VisitUnknown(const TableColumn& column, size_t rows, Result otherwise, Visit visit) {
  if (!column.unknown) return otherwise;
  const auto of_type = [&]<typename T>(T) {
    return visit(std::span(static_cast<const T*>(column.data), rows), static_cast<T>(*column.unknown));
  };
  switch (column.type) {
    case ColumnType::kUint8:
      return of_type(uint8_t{});
    case ColumnType::kUint16:
      return of_type(uint16_t{});
    case ColumnType::kUint32:
    case ColumnType::kInt32:
      return of_type(uint32_t{});
    case ColumnType::kUint64:
    case ColumnType::kInt64:
    case ColumnType::kFloat64:  // the bits of one NaN
      return of_type(uint64_t{});
    case ColumnType::kInt64List:
      break;
  }
  return otherwise;
}

}  // namespace opscope

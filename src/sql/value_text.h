// Values of DuckDB's vectors as text: JSON, or the plain text of CSV and of tables for people.
//
// Thread rule: one thread at a time reads a chunk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sql/duckdb_api.h"
#include "sql/value_type.h"

namespace opscope::duckdb {

enum class ValueForm : uint8_t {
  // What every JSON reader keeps: integers beyond 2^53 and decimals are text; NaN and infinities are null.
  kJson,
  // For a reader with integers of any size (Python): every integer is a number; NaN, Infinity, -Infinity.
  kExactJson,
  // A text without quotes, an unknown value is "", what is nested is JSON.
  kPlain,
};

// A vector and, where its type is nested, the vectors of its children: the pointers into one chunk.
struct VectorView {
  VectorView(const Api& api, const ValueType& type, vector values);

  bool IsNull(uint64_t row) const { return validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0; }

  const void* data = nullptr;
  const uint64_t* validity = nullptr;  // null: every value is known
  std::vector<VectorView> children = {};
};

// Appends the value of one row.
void AppendValue(const Api& api, const ValueType& type, const VectorView& values, uint64_t row, ValueForm form,
                 std::string* out);

}  // namespace opscope::duckdb

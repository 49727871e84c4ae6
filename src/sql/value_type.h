// The type of a result column as a tree that is read once, instead of through DuckDB's handles for each value.
//
// Thread rule: values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opscope/result.h"
#include "sql/duckdb_api.h"

namespace opscope::duckdb {

struct ValueType {
  int id = kSqlNull;     // one of `type`
  std::string name;      // as DuckDB writes it: "DECIMAL(18,3)", "STRUCT(a INTEGER)[]"
  std::string member;    // its name within a struct or union
  int stored_as = 0;     // of decimals and enums: the integer type of their values
  unsigned scale = 0;    // of decimals: digits behind the point
  idx_t array_size = 0;  // of arrays
  std::vector<std::string> enum_values = {};
  // Of lists and arrays one, of maps key and value, of structs and unions their members.
  std::vector<ValueType> children = {};
};

// kUnsupported: a type that is not in the list of duckdb_api.h, alone or within another one.
[[nodiscard]] Result<ValueType> ReadType(const Api& api, logical_type type);

}  // namespace opscope::duckdb

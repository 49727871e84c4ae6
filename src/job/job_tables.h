// The tables of a JOB and their columns, as docs/reference/job.md lists them.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace opscope {

struct JobColumn {
  std::string_view name;
  // "INTEGER", "BIGINT", "VARCHAR" or "INTEGER[]", for which part tables have texts such as "0,1,2".
  std::string_view type;
  // Added by `collect`: the format does not demand it of other programs. derived_columns.sql computes it for them.
  bool is_derived = false;
};

struct JobTable {
  std::string_view name;
  std::span<const JobColumn> columns;
  // Columns by which the rows of a file are ordered; "": unordered.
  std::string_view order;
};

[[nodiscard]] std::span<const JobTable> JobTables();

}  // namespace opscope

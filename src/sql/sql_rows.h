// What a SqlResult holds: the chunks that DuckDB gave, and the session that owns their memory.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "opscope/sql.h"
#include "sql/session.h"
#include "sql/value_text.h"

namespace opscope {

struct SqlResult::Rows {
  explicit Rows(std::shared_ptr<duckdb::Session> opened) : session(std::move(opened)) {}
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    for (duckdb::data_chunk& chunk : chunks)
      session->api().destroy_data_chunk(&chunk);
  }

  // Calls begin_row(), then value(column, view, row of the chunk) for each column, row by row.
  template <typename BeginRow, typename Value>
  void ForEach(BeginRow begin_row, Value value) const {
    for (const duckdb::data_chunk chunk : chunks) {
      std::vector<duckdb::VectorView> views;
      for (size_t i = 0; i < types.size(); ++i)
        views.emplace_back(session->api(), types[i], session->api().data_chunk_get_vector(chunk, i));
      const size_t rows = session->api().data_chunk_get_size(chunk);
      for (size_t row = 0; row < rows; ++row) {
        begin_row();
        for (size_t i = 0; i < types.size(); ++i)
          value(i, views[i], row);
      }
    }
  }

  // [[value, ...], ...]
  void AppendJson(duckdb::ValueForm form, std::string* out) const;
  // What EXPLAIN gives, line by line. REQUIRES: the columns are explain_key and explain_value.
  [[nodiscard]] std::string PlanText() const;

  std::shared_ptr<duckdb::Session> session;
  std::vector<SqlColumn> columns;
  std::vector<duckdb::ValueType> types;                      // by column
  std::vector<duckdb::Owned<duckdb::logical_type>> handles;  // the types for DuckDB
  std::vector<duckdb::data_chunk> chunks;
  size_t row_count = 0;
  bool is_truncated = false;
};

}  // namespace opscope

// The tables of a Trace as tables of DuckDB: views over table functions that fill DuckDB's vectors from the Trace's
// columns. Nothing is converted before a query asks for it, and only the columns that it uses.
//
// Thread rule: one thread registers; DuckDB calls the functions from its threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/owned_table.h"
#include "opscope/result.h"
#include "opscope/table.h"
#include "opscope/trace.h"
#include "sql/duckdb_api.h"

namespace opscope::duckdb {

// The tables of one Trace, or one OwnedTable. Vectors that a scan has filled point at texts of the Trace and of this
// object: both outlive every result of a query. It does not move.
class TraceTables {
 public:
  TraceTables(const Api& api, std::shared_ptr<const Trace> trace) : api_(api), trace_(std::move(trace)) {}
  TraceTables(const Api& api, const std::shared_ptr<const OwnedTable>& table)
      : api_(api), trace_(OwnedTable::TraceOf(table)), only_(table->view()) {}
  TraceTables(const TraceTables&) = delete;
  TraceTables& operator=(const TraceTables&) = delete;

  // Creates a view for each table. O(tables).
  [[nodiscard]] Status Register(connection connected);

  const Api& api() const { return api_; }
  // A table of Register. While views are created, only its names and types of columns are right.
  TableView Find(std::string_view name) const;
  bool is_registering() const { return is_registering_; }
  // By StringId: what DuckDB holds for it. Bytes that are not UTF-8 are escaped as in Arrow. The first call is
  // O(strings).
  const string_t* texts();

 private:
  const Api& api_;
  std::shared_ptr<const Trace> trace_;  // has the texts
  std::optional<TableView> only_;       // instead of the tables of the Trace
  bool is_registering_ = false;
  std::once_flag texts_once_;
  std::vector<string_t> texts_;
  std::deque<std::string> escaped_;
};

// A text that DuckDB may refer to as long as `text` lives.
string_t TextReference(std::string_view text);

}  // namespace opscope::duckdb

// A database of DuckDB in memory that has the tables of one Trace, and tables that were added.
//
// Thread rule: one thread at a time. QueryWatch may interrupt connected() from its own thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "opscope/result.h"
#include "opscope/trace.h"
#include "sql/duckdb_api.h"
#include "sql/trace_scan.h"

namespace opscope::duckdb {

struct SessionOptions {
  uint64_t max_memory = 0;  // bytes; 0: DuckDB's own limit
  unsigned threads = 1;
  bool may_write_files = false;
};

class Session {
 public:
  // trace: nullptr for a database without tables.
  [[nodiscard]] static Result<std::unique_ptr<Session>> Open(const Api& api, std::shared_ptr<const Trace> trace,
                                                             const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Api& api() const { return api_; }
  connection connected() const { return connection_; }
  // Adds a table under its name.
  [[nodiscard]] Status Add(const std::shared_ptr<const OwnedTable>& table);
  // Writes the rows of a SELECT as a Parquet file and gives their number. The file is written beside its final name and
  // renamed, so that a reader never sees half a file; its folder is made. kIo names the file. REQUIRES: may_write_files
  [[nodiscard]] Result<uint64_t> WriteParquet(const std::string& select, const std::string& path);
  // Runs a statement of opscope's own; gives how many rows it wrote.
  [[nodiscard]] Result<uint64_t> Execute(const std::string& sql);

 private:
  explicit Session(const Api& api) : api_(api) {}

  const Api& api_;
  std::deque<TraceTables> tables_;
  database database_ = nullptr;
  connection connection_ = nullptr;
};

// 'text', with quotes doubled.
[[nodiscard]] std::string SqlText(std::string_view text);

// DuckDB's message as one line, without the quoted statement, advice and stack traces below it.
[[nodiscard]] std::string CleanMessage(const char* message);

}  // namespace opscope::duckdb

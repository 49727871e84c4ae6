// SQL over the tables of a Trace. The engine is DuckDB, a library that is found when the
// first query runs; opscope itself is built without it.
//
//   auto trace = std::make_shared<const opscope::Trace>(opscope::ImportFile("run.json").value());
//   opscope::Result<opscope::SqlResult> result =
//       opscope::RunSql(trace, "SELECT name, count(*) FROM spans GROUP BY name ORDER BY 2 DESC");
//   if (result.ok()) Print(result.value().Text());
//
// The tables are those of table.h, with a first column `row` that numbers the rows from 0:
// the handles of other tables are such numbers. Texts are VARCHAR, unknown values are NULL,
// times are nanoseconds. Columns are read in place, those alone that a query uses.
//
// A query is one statement that reads. It reaches no file, no network, no extension, no
// setting and not the environment, and it has a limit of time and one of memory.
//
// DuckDB is searched in: the file that OPSCOPE_DUCKDB_LIB names, libduckdb.so beside the
// program, libduckdb.so of the loader's path, SqlOptions::python_module. What was found first
// serves the whole process.
//
// Thread rule: any thread; a SqlResult is used by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/arrow.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct Quality;  // opscope/analysis/quality.h

// Limits of one query, and where DuckDB may be.
struct SqlOptions {
  // The query is stopped within half a second of this limit.
  double max_seconds = 60;
  // Bytes for the query alone, beside the Trace. 0: no limit.
  uint64_t max_memory = uint64_t{4} << 30;
  // Rows of the result; what exceeds them is not computed. 0: all.
  uint64_t max_rows = 1'000'000;
  // File of the extension module of Python's package `duckdb`, for programs that run inside
  // Python. "": none.
  std::string python_module = {};
  // Called on another thread if DuckDB does not react to the limit within 0.4 s, with the
  // message of the error: a program may then end itself. Empty: RunSql waits.
  std::function<void(const std::string& message)> on_stuck = {};
};

// A column of a result.
struct SqlColumn {
  std::string name;
  // As DuckDB names it: "BIGINT", "DECIMAL(18,3)", "STRUCT(a INTEGER)[]".
  std::string type;
};

// The rows that a query gave. They may refer to texts of the Trace, which the result keeps.
class SqlResult {
 public:
  SqlResult(SqlResult&&) noexcept;
  SqlResult& operator=(SqlResult&&) noexcept;
  ~SqlResult();

  const std::vector<SqlColumn>& columns() const;
  size_t row_count() const;
  // True if the query has more rows than SqlOptions::max_rows.
  bool is_truncated() const;

  // [[value, ...], ...]. Integers beyond 2^53 and decimals are text, NaN and infinities are
  // null, times and blobs are text, lists are arrays, structs are objects, maps are arrays of
  // {"key", "value"}.
  void AppendJsonRows(std::string* out) const;
  // Likewise for a reader with integers of any size: they are numbers; and NaN, Infinity and
  // -Infinity stand for themselves.
  void AppendExactJsonRows(std::string* out) const;
  // {"schema": "opscope.query/1", "columns", "rows", "truncated", "problems", "quality"}
  [[nodiscard]] std::string Json(const Trace& trace) const;
  // The same of a query that is not of one Trace.
  [[nodiscard]] std::string Json(std::string_view problems_json, const Quality& quality) const;
  // With a title line; NULL is empty.
  [[nodiscard]] std::string Csv() const;
  // A table no wider than `width` columns of a terminal; 0: any width.
  [[nodiscard]] std::string Text(size_t width = 0) const;

  // For src/sql: what it holds.
  struct Rows;
  explicit SqlResult(std::unique_ptr<Rows> rows);

 private:
  friend class SqlArrowStream;
  std::unique_ptr<Rows> rows_;
};

// Runs one statement. kInvalidArgument: DuckDB refuses it, or it does what a query may not
// do; the message is one line. kUnsupported: there is no DuckDB. kOutOfMemory, kIo: a limit
// of memory, of time was exceeded.
[[nodiscard]] Result<SqlResult> RunSql(std::shared_ptr<const Trace> trace, const std::string& sql,
                                       const SqlOptions& options = {});

// Fills *stream with a stream of the rows; the reader releases it. Values are copied when a
// batch is read.
void OpenArrowStream(std::shared_ptr<const SqlResult> result, ArrowArrayStream* stream);

// Writes every table as FOLDER/TABLE/rank=R/part-0.parquet. R is the rank of the process of a
// row, -1 if it has none. Rows that belong to no process (frames, arguments, ...) have the
// rank of the trace if it has one rank, else -1. The column `row` numbers the rows of the
// Trace, whichever file they are in. Each file is written beside its final name and renamed.
// kUnsupported: there is no DuckDB. kIo names the file.
[[nodiscard]] Status ExportParquet(std::shared_ptr<const Trace> trace, const std::string& folder,
                                   const SqlOptions& options = {});

}  // namespace opscope

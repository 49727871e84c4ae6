// What runs the SQL of the answers over a JOB. The statements are in a subset that DuckDB and other
// engines have in common, so that another engine needs Define and Query alone.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "opscope/result.h"
#include "opscope/sql.h"

namespace opscope {

// Rows of a query.
struct JobRows {
  std::vector<std::string> columns;
  // [[value, ...], ...]; integers of any size are numbers, lists are arrays.
  std::string json;
};

class JobEngine {
 public:
  JobEngine() = default;
  JobEngine(const JobEngine&) = delete;
  JobEngine& operator=(const JobEngine&) = delete;
  virtual ~JobEngine() = default;

  // Makes the rows of a SELECT known as `name`. is_kept: they are computed once, because several
  // statements read them.
  [[nodiscard]] virtual Status Define(const std::string& name, const std::string& select, bool is_kept) = 0;
  [[nodiscard]] virtual Result<JobRows> Query(const std::string& select) = 0;
  // Hands the rows to `use` in their order, some thousands at a time if the engine can; at least
  // one call, which names the columns. An error of `use` ends the query and is returned. `use` may
  // not call the engine.
  using UseRows = std::function<Status(const JobRows& rows)>;
  [[nodiscard]] virtual Status Stream(const std::string& select, const UseRows& use) {
    const Result<JobRows> rows = Query(select);
    return rows.ok() ? use(rows.value()) : Status(rows.error());
  }
  // How many parts the JOB has, each with files of its own; 0: unknown.
  [[nodiscard]] virtual size_t parts() const { return 0; }
};

// Which files hold a table of a JOB.
struct JobTableFiles {
  std::string table;
  // Its name in an engine. It differs from `table` where another program wrote the JOB without the
  // columns that `collect` adds: DeriveJobTables makes `table` of this one then.
  std::string source;
  // As they can be opened. Empty: the table has no rows.
  std::vector<std::string> files;
  // Names and types of its columns: ("rank", "INTEGER"), ("name", "VARCHAR"), ("start_ns", "BIGINT"),
  // ("members", "INTEGER[]").
  std::vector<std::pair<std::string, std::string>> columns;
  uint64_t rows = 0;  // of these files together
};
[[nodiscard]] Result<std::vector<JobTableFiles>> ListJobFiles(const std::string& job);
// Makes the tables whose `source` has another name. The engine must know the sources.
[[nodiscard]] Status DeriveJobTables(const std::vector<JobTableFiles>& tables, JobEngine* engine);
// Of how many parts the JOB with these files consists.
[[nodiscard]] size_t CountJobParts(const std::vector<JobTableFiles>& tables);

// DuckDB in this process, with the tables of a JOB. kUnsupported: there is no DuckDB, or JOB has a
// newer version. kInvalidArgument: the folder is no JOB. tables: of these alone; empty: all.
[[nodiscard]] Result<std::unique_ptr<JobEngine>> OpenDuckdbEngine(const std::string& job,
                                                                  const std::string& python_module = {},
                                                                  const std::vector<std::string>& tables = {});

// As RunSql, over the tables of a JOB: it reaches no file but those of JOB. attempt: the one
// whose rows the tables have; nullopt: the largest one. kInvalidArgument: there is no such attempt.
[[nodiscard]] Result<SqlResult> RunJobSql(const std::string& job, const std::string& sql,
                                          const SqlOptions& options = {},
                                          std::optional<int32_t> attempt = std::nullopt);

}  // namespace opscope

// DuckDB for a JOB: writes tables of a part as Parquet files, and reads the files of a JOB as views.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "job/file_identity.h"
#include "job/job_tables.h"
#include "job/part_tables.h"
#include "opscope/result.h"
#include "sql/session.h"

namespace opscope {

// A session that may write files. kUnsupported: there is no DuckDB. threads: use 1 for a database that is opened for
// every file, because each thread of DuckDB leaks some memory.
[[nodiscard]] Result<std::unique_ptr<duckdb::Session>> OpenJobSession(const std::string& python_module,
                                                                      unsigned threads);

class JobDatabase {
 public:
  // As OpenJobSession.
  [[nodiscard]] static Result<std::unique_ptr<JobDatabase>> Open(const std::string& python_module, unsigned threads);

  // Writes a table of one file, with the columns that are equal in all its rows. The file gets its name when it is
  // complete.
  [[nodiscard]] Result<uint64_t> WritePart(const JobTable& table, const PartTable& rows, const FileIdentity& identity,
                                           int64_t file_id, const std::string& path);
  // Joins files of a table.
  [[nodiscard]] Result<uint64_t> JoinParts(const JobTable& table, const std::vector<std::string>& files,
                                           const std::string& path);

 private:
  explicit JobDatabase(std::unique_ptr<duckdb::Session> session) : session_(std::move(session)) {}
  std::unique_ptr<duckdb::Session> session_;
};

// read_parquet(['a', 'b'], ...): the columns that the files have. DuckDB alone would take folders such as "rank=5"
// above them for columns.
[[nodiscard]] std::string ReadParquet(const std::vector<std::string>& files);

}  // namespace opscope

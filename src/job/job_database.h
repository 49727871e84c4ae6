// DuckDB as JOB needs it: tables of a part become Parquet files, and the files of a JOB are views.
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

class JobDatabase {
 public:
  // kUnsupported: there is no DuckDB. A database that has threads of its own leaves some memory of each behind, so one
  // that is opened for every file gets one.
  [[nodiscard]] static Result<std::unique_ptr<JobDatabase>> Open(const std::string& python_module, unsigned threads);

  // Writes a table of one file, with the columns that are equal in all its rows. The file has a name when it is whole.
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

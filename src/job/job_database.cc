// Turns the columns of a table into a SELECT with their types.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_database.h"

#include <utility>

#include "base/assign.h"

namespace opscope {
namespace {

std::string ColumnSql(const JobColumn& column, const FileIdentity& identity, int64_t file_id) {
  std::string value(column.name);
  if (column.name == "attempt") value = std::to_string(identity.attempt);
  if (column.name == "rank") value = std::to_string(identity.rank);
  if (column.name == "file_id")
    value = "CAST('" + std::to_string(file_id) + "' AS BIGINT)";  // the least has no literal
  if (column.type == "INTEGER[]")
    value = "CASE WHEN " + value + " = '' THEN [] ELSE string_split(" + value + ", ',') END";
  return "CAST(" + value + " AS " + std::string(column.type) + ") AS " + std::string(column.name);
}

}  // namespace

std::string ReadParquet(const std::vector<std::string>& files) {
  std::string list;
  for (const std::string& file : files)
    list.append(list.empty() ? "" : ",").append(duckdb::SqlText(file));
  return "read_parquet([" + list + "], hive_partitioning = false)";
}

Result<std::unique_ptr<duckdb::Session>> OpenJobSession(const std::string& python_module, unsigned threads) {
  OPSCOPE_ASSIGN(const duckdb::Api* api, duckdb::LoadDuckdb(python_module));
  return duckdb::Session::Open(*api, nullptr, {.threads = threads, .may_write_files = true});
}

Result<std::unique_ptr<JobDatabase>> JobDatabase::Open(const std::string& python_module, unsigned threads) {
  OPSCOPE_ASSIGN(std::unique_ptr<duckdb::Session> session, OpenJobSession(python_module, threads));
  return std::unique_ptr<JobDatabase>(new JobDatabase(std::move(session)));
}

Result<uint64_t> JobDatabase::WritePart(const JobTable& table, const PartTable& rows, const FileIdentity& identity,
                                        int64_t file_id, const std::string& path) {
  OPSCOPE_TRY(session_->Add(rows));
  std::string select = "SELECT ";
  for (const JobColumn& column : table.columns)
    select.append(select.size() == 7 ? "" : ", ").append(ColumnSql(column, identity, file_id));
  select.append(" FROM ").append(table.name).append(" ORDER BY ").append(table.order);
  return session_->WriteParquet(select, path);
}

Result<uint64_t> JobDatabase::JoinParts(const JobTable& table, const std::vector<std::string>& files,
                                        const std::string& path) {
  return session_->WriteParquet("SELECT * FROM " + ReadParquet(files) + " ORDER BY " + std::string(table.order), path);
}

}  // namespace opscope

// DuckDB over the files of a JOB: a view for each table, over the files that the manifests list and no others. Rows
// that several statements read become temporary tables, so that they are computed once.
//
// A query of a user runs in a database that may read the folder JOB alone: the views are made first, and then the
// settings that open files are closed and locked.
// SPDX-License-Identifier: Apache-2.0
#include "job/duckdb_engine.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/thread_team.h"
#include "job/job_attempt.h"
#include "job/job_database.h"
#include "job/job_folder.h"
#include "job/job_sql.h"
#include "job/job_tables.h"
#include "job/parquet_file.h"
#include "job/stored_traces.h"
#include "opscope/sql.h"
#include "sql/row_reader.h"
#include "sql/run_sql.h"

namespace opscope {
namespace {

// What DuckDB says of a file that it cannot decode begins so; what it says of most wrong statements does not.
bool MayBeOfDamage(const Error& error) {
  constexpr std::string_view kBegins[] = {"Invalid Error", "Invalid Input Error", "IO Error", "INTERNAL Error"};
  return std::any_of(std::begin(kBegins), std::end(kBegins),
                     [&](std::string_view begin) { return error.message.starts_with(begin); });
}

using Clock = std::chrono::steady_clock;

// Where statements of opscope fail, a file may be damaged inside. DuckDB does not say which one, so each is read once,
// as long as there is time.
Error NameDamagedFile(const std::vector<JobTableFiles>& tables, duckdb::Session* session, const Error& error,
                      Clock::time_point until = Clock::time_point::max()) {
  for (const JobTableFiles& table : tables) {
    for (const std::string& file : table.files) {
      if (Clock::now() >= until) return error;
      const std::string read = "SELECT max(hash(each)) FROM " + ReadParquet({file}) + " AS each";
      if (session->Execute(read).ok()) continue;
      std::error_code ignored;
      const uint64_t bytes = std::filesystem::file_size(file, ignored);
      return {ErrorCode::kMalformed,
              file + ": in the bytes 4 to " + std::to_string(bytes) + ": the data of the Parquet file are damaged"};
    }
  }
  return error;
}

class DuckdbEngine : public JobEngine {
 public:
  DuckdbEngine(std::unique_ptr<duckdb::Session> session, std::vector<JobTableFiles> tables)
      : session_(std::move(session)), tables_(std::move(tables)) {}

  size_t parts() const override { return CountJobParts(tables_); }

  Status Define(const std::string& name, const std::string& select, bool is_kept) override {
    const Result<uint64_t> made =
        session_->Execute((is_kept ? "CREATE OR REPLACE TEMPORARY TABLE " : "CREATE OR REPLACE TEMPORARY VIEW ") +
                          name + " AS " + select);
    return made.ok() ? Status() : Status(Explained(made.error()));
  }

  Result<JobRows> Query(const std::string& select) override {
    const Result<SqlResult> result = duckdb::QueryAll(session_, select);
    if (!result.ok()) return Explained(result.error());
    return RowsOf(result.value());
  }

  Status Stream(const std::string& select, const UseRows& use) override {
    Status used;
    const Status read = duckdb::QueryInBatches(session_, select, [&](const SqlResult& batch) {
      used = use(RowsOf(batch));
      return used;
    });
    return read.ok() || !used.ok() ? read : Status(Explained(read.error()));
  }

 private:
  static JobRows RowsOf(const SqlResult& result) {
    JobRows rows;
    for (const SqlColumn& column : result.columns())
      rows.columns.push_back(column.name);
    result.AppendExactJsonRows(&rows.json);
    return rows;
  }

  Error Explained(const Error& error) { return NameDamagedFile(tables_, session_.get(), error); }

  std::shared_ptr<duckdb::Session> session_;
  const std::vector<JobTableFiles> tables_;
};

// Whether some part lacks the columns that `collect` adds. Every part of `collect` has a trace.
Result<bool> LacksDerivedColumns(const JobFolder& folder) {
  for (const PartManifest& part : folder.parts()) {
    const auto is_of = [](std::string_view table) {
      return [table](const PartFile& file) { return file.table == table; };
    };
    if (std::any_of(part.files.begin(), part.files.end(), is_of("traces"))) continue;
    const auto ranks = std::find_if(part.files.begin(), part.files.end(), is_of("ranks"));
    if (ranks == part.files.end()) continue;
    const std::string path = (std::filesystem::path(folder.path()) / ranks->path).string();
    OPSCOPE_ASSIGN(const bool has_file_id, ParquetHasColumn(path, "file_id"));
    if (!has_file_id) return true;
  }
  return false;
}

Error MissingColumn(const std::string& file, const std::string& column, const std::string& table) {
  return {ErrorCode::kMalformed, file + ": at byte 0: the column " + column + " of the table " + table + " is missing"};
}

// What another program wrote may lack a column of the format.
Status CheckColumns(const std::string& file, const JobTableFiles& table) {
  for (const auto& [name, type] : table.columns) {
    OPSCOPE_ASSIGN(const bool has, ParquetHasColumn(file, name));
    if (!has) return MissingColumn(file, name, table.table);
  }
  return {};
}

// The files of the tables with these names; without names, of all tables.
Result<std::vector<JobTableFiles>> ListFilesOf(const JobFolder& folder, const std::vector<std::string>& names) {
  OPSCOPE_ASSIGN(const bool is_stored_only, LacksDerivedColumns(folder));
  std::vector<JobTableFiles> tables;
  for (const JobTable& table : JobTables()) {
    if (!names.empty() && std::find(names.begin(), names.end(), table.name) == names.end()) continue;
    JobTableFiles listed;
    listed.table = table.name;
    for (const JobColumn& column : table.columns)
      if (!is_stored_only || !column.is_derived) listed.columns.emplace_back(column.name, column.type);
    if (listed.columns.empty()) continue;
    listed.source = listed.columns.size() < table.columns.size() ? "stored_" + listed.table : listed.table;
    listed.files = folder.FilesOf(table.name);
    listed.rows = folder.CountRows(table.name);
    for (const std::string& file : listed.files) {
      OPSCOPE_TRY(CheckParquet(file));
      if (is_stored_only) OPSCOPE_TRY(CheckColumns(file, listed));
    }
    tables.push_back(std::move(listed));
  }
  return tables;
}

Result<int32_t> FindAttempt(const std::string& job, const JobFolder& folder, const std::string& python_module,
                            std::optional<int32_t> wanted) {
  const std::vector<StoredTrace> stored = ListStoredTraces(folder);
  if (!stored.empty()) return ChooseAttempt(job, stored, wanted);
  // Another program may have written the JOB, with the tables alone. This opens one more session of DuckDB.
  OPSCOPE_ASSIGN(const std::unique_ptr<JobEngine> engine, OpenDuckdbEngine(job, python_module, {"ranks"}));
  JobAttempt attempt(engine.get());
  if (const Status known = attempt.Choose(wanted); !known.ok())
    return Error{known.error().code, job + ": " + known.error().message};
  return attempt.number();
}

}  // namespace

Status DefineJobViews(const std::vector<JobTableFiles>& tables, JobViewNames names, std::optional<int32_t> attempt,
                      duckdb::Session* session) {
  for (const JobTableFiles& table : tables) {
    std::string sql = "CREATE VIEW " + (names == JobViewNames::kSources ? table.source : table.table) + " AS SELECT ";
    const char* separator = "";
    for (const auto& [name, type] : table.columns) {
      sql.append(std::exchange(separator, ", "));
      if (table.files.empty()) sql.append("CAST(NULL AS ").append(type).append(") AS ");
      sql.append(name);
    }
    sql += table.files.empty() ? " WHERE false" : " FROM " + ReadParquet(table.files);
    if (attempt && !table.files.empty()) sql += " WHERE attempt = " + std::to_string(*attempt);
    if (const Result<uint64_t> made = session->Execute(sql); !made.ok())
      return NameDamagedFile({table}, session, made.error());
  }
  return {};
}

Result<std::vector<JobTableFiles>> ListJobFiles(const std::string& job) {
  return CatchBadAlloc(job, [&]() -> Result<std::vector<JobTableFiles>> {
    OPSCOPE_ASSIGN(const JobFolder folder, JobFolder::Open(job));
    return ListFilesOf(folder, {});
  });
}

size_t CountJobParts(const std::vector<JobTableFiles>& tables) {
  for (const JobTableFiles& table : tables)
    if (table.table == "ranks") return table.files.size();  // each part has a file of this table
  return 0;
}

Result<SqlResult> RunJobSql(const std::string& job, const std::string& sql, const SqlOptions& options,
                            std::optional<int32_t> attempt) {
  return CatchBadAlloc(job, [&]() -> Result<SqlResult> {
    OPSCOPE_ASSIGN(const JobFolder listed, JobFolder::Open(job));
    OPSCOPE_ASSIGN(const int32_t chosen, FindAttempt(job, listed, options.python_module, attempt));
    OPSCOPE_ASSIGN(const std::vector<JobTableFiles> tables, ListFilesOf(listed, {}));
    std::error_code ignored;
    const std::string folder = std::filesystem::absolute(job, ignored).string();
    const Clock::time_point until = Clock::now() + duckdb::TimeLimit(options);
    using OpenedSession = Result<std::unique_ptr<duckdb::Session>>;
    Result<SqlResult> result =
        duckdb::RunGuarded(sql, options, [&](const duckdb::Api& api, duckdb::SessionOptions opened) -> OpenedSession {
          opened.may_write_files = true;  // until the views are there
          OpenedSession session = duckdb::Session::Open(api, nullptr, opened);
          if (!session.ok()) return session;
          OPSCOPE_TRY(DefineJobViews(tables, JobViewNames::kTables, chosen, session.value().get()));
          for (const std::string& setting :
               {"SET allowed_directories = [" + duckdb::SqlText(folder) + "]",
                std::string("SET enable_external_access = false"), std::string("SET lock_configuration = true")})
            if (const Result<uint64_t> done = session.value()->Execute(setting); !done.ok()) return done.error();
          return session;
        });
    if (result.ok() || !MayBeOfDamage(result.error())) return result;
    const OpenedSession session = OpenJobSession(options.python_module, AllowedProcessors());
    if (!session.ok()) return result.error();
    return NameDamagedFile(tables, session.value().get(), result.error(), until);
  });
}

Result<std::unique_ptr<JobEngine>> OpenDuckdbEngine(const std::string& job, const std::string& python_module,
                                                    const std::vector<std::string>& names) {
  return CatchBadAlloc(job, [&]() -> Result<std::unique_ptr<JobEngine>> {
    OPSCOPE_ASSIGN(const JobFolder folder, JobFolder::Open(job));
    OPSCOPE_ASSIGN(const std::vector<JobTableFiles> tables, ListFilesOf(folder, names));
    OPSCOPE_ASSIGN(std::unique_ptr<duckdb::Session> session, OpenJobSession(python_module, AllowedProcessors()));
    OPSCOPE_TRY(DefineJobViews(tables, JobViewNames::kSources, std::nullopt, session.get()));
    std::unique_ptr<JobEngine> engine = std::make_unique<DuckdbEngine>(std::move(session), tables);
    OPSCOPE_TRY(DeriveJobTables(tables, engine.get()));
    return engine;
  });
}

}  // namespace opscope

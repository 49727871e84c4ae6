// Parquet files of every table, written by DuckDB's COPY, one file per table and rank:
//
//   FOLDER/spans/rank=0/part-0.parquet   FOLDER/spans/rank=1/part-0.parquet   FOLDER/tracks/rank=0/...
//
// Readers of partitioned data take `rank` from the name of the folder, so the files of many jobs lie side by side.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/thread_team.h"
#include "opscope/sql.h"
#include "opscope/table.h"
#include "sql/session.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kNoRank = -1;

// The ranks of the processes that have tracks.
std::set<int32_t> RanksOf(const Trace& trace) {
  std::set<int32_t> ranks;
  for (const ProcessId process : trace.tracks().process) {
    const bool is_known = Row(process) < trace.processes().size();
    ranks.insert(is_known ? trace.processes().rank[Row(process)] : kNoRank);
  }
  return ranks;
}

// Condition of the rows whose process has this rank: `processes` by itself, the others by their first handle that leads
// to a process. "": no handle does.
std::string IsOfRank(const TableView& table, const Trace& trace, int32_t rank) {
  const std::string is_rank = " = " + std::to_string(rank);
  if (table.name == "processes") return "coalesce(rank, -1)" + is_rank;
  for (const std::string_view owner : {"processes", "tracks", "spans"}) {
    for (const TableColumn& column : table.columns) {
      if (column.meaning != ColumnMeaning::kHandle || column.refers_to != owner || table.name == owner) continue;
      std::string condition(column.name);
      condition.append(" IN (SELECT row FROM ").append(owner).append(" WHERE ");
      condition.append(IsOfRank(*FindTable(trace, owner), trace, rank)).append(")");
      if (rank == kNoRank) condition.append(" OR ").append(column.name).append(" IS NULL");
      return "(" + condition + ")";
    }
  }
  return "";
}

class ParquetExport {
 public:
  ParquetExport(const Trace& trace, const std::string& folder, duckdb::Session* session)
      : trace_(trace), folder_(folder), session_(session), ranks_(RanksOf(trace)) {
    if (ranks_.empty()) ranks_.insert(kNoRank);
  }

  Status Run() {
    for (const std::string_view name : TableNames()) {
      const TableView table = FindTable(trace_, name).value_or(TableView());
      const bool has_owner = !IsOfRank(table, trace_, 0).empty();
      if (ranks_.size() == 1 || !has_owner || table.rows == 0) {
        OPSCOPE_TRY(WriteFile(table, "", ranks_.size() == 1 ? *ranks_.begin() : kNoRank));
        continue;
      }
      std::set<int32_t> ranks = ranks_;
      ranks.insert(kNoRank);
      for (const int32_t rank : ranks)
        OPSCOPE_TRY(WriteFile(table, IsOfRank(table, trace_, rank), rank));
    }
    return {};
  }

 private:
  // `condition`: of the rows of this rank; without rows there is no file. "": all rows, and the file is written without
  // rows too, as readers of the table then find its columns.
  Status WriteFile(const TableView& table, const std::string& condition, int32_t rank) {
    const fs::path folder = fs::path(folder_) / table.name / ("rank=" + std::to_string(rank));
    const fs::path file = folder / "part-0.parquet";
    std::string select = "SELECT * FROM " + std::string(table.name);
    if (!condition.empty()) select += " WHERE " + condition;
    OPSCOPE_ASSIGN(const uint64_t written, session_->WriteParquet(select, file.string()));
    if (written > 0 || condition.empty()) return {};
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(folder, ignored);  // if it is empty
    return {};
  }

  const Trace& trace_;
  const std::string& folder_;
  duckdb::Session* const session_;
  std::set<int32_t> ranks_;
};

}  // namespace

Status ExportParquet(std::shared_ptr<const Trace> trace, const std::string& folder, const SqlOptions& options) {
  return CatchBadAlloc(folder, [&]() -> Status {
    OPSCOPE_ASSIGN(const duckdb::Api* api, duckdb::LoadDuckdb(options.python_module));
    const Trace& exported = *trace;
    OPSCOPE_ASSIGN(std::unique_ptr<duckdb::Session> session,
                   duckdb::Session::Open(
                       *api, std::move(trace),
                       {.max_memory = options.max_memory, .threads = AllowedProcessors(), .may_write_files = true}));
    return ParquetExport(exported, folder, session.get()).Run();
  });
}

}  // namespace opscope

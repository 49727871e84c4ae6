// Adds one file after the other: its Trace is read, its tables are written and freed, and its manifest makes them
// count. Files that a killed process was writing remain there, unlisted.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/system_error.h"
#include "job/job_database.h"
#include "job/job_folder.h"
#include "job/part_tables.h"
#include "job/sha256.h"
#include "opscope/export.h"
#include "opscope/import.h"
#include "opscope/job.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

bool IsTraceName(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".opscope");
}

// The files that the user names, and for each folder the traces below it, by path. A name of the user may be a symbolic
// link. Below a folder no symbolic links are followed, to files as to folders: they may lead out of the folder. What
// lies in JOB is left out: its traces are those that were collected before.
Result<std::vector<std::string>> ListFiles(const std::vector<std::string>& arguments, const std::string& job) {
  std::vector<std::string> files;
  for (const std::string& argument : arguments) {
    std::error_code failed;
    if (!fs::is_directory(argument, failed)) {
      files.push_back(argument);
      continue;
    }
    if (fs::equivalent(argument, job, failed))
      return Error{ErrorCode::kInvalidArgument, argument + ": it is the JOB", 0};
    failed.clear();  // there may be no JOB yet
    std::vector<std::string> found;
    fs::recursive_directory_iterator entry(argument, failed);
    for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
      std::error_code ignored;
      if (fs::is_directory(entry->symlink_status(ignored)) && fs::equivalent(entry->path(), job, ignored)) {
        entry.disable_recursion_pending();
        continue;
      }
      if (fs::is_regular_file(entry->symlink_status(ignored)) && IsTraceName(entry->path()))
        found.push_back(entry->path().string());
    }
    if (failed) return SystemErrorFor(argument, failed.value(), ErrorCode::kIo);
    if (found.empty()) return Error{ErrorCode::kNotFound, argument + ": there are no traces below this folder", 0};
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

class Collector {
 public:
  Collector(JobFolder* folder, const CollectOptions& options) : folder_(folder), options_(options) {}

  Status Collect(const std::string& file) {
    CollectedFile& row = report_.files.emplace_back();
    row.file = file;
    const Result<std::string> sha256 = Sha256OfFile(file);
    if (!sha256.ok()) return Refuse(&row, sha256.error());
    row.sha256 = sha256.value();
    ImportOptions import;
    import.max_memory = options_.max_memory;
    import.format = options_.format;
    // A file that JOB has is read, too: the row has its rank, host and spans, some of them from this file's name.
    const Result<Trace> trace = ImportFile(file, import);
    if (!trace.ok()) return Refuse(&row, trace.error());
    const FileIdentity identity = IdentifyFile(trace.value(), file, options_.attempt);
    row.rank = identity.rank;
    row.rank_from = identity.rank_from;
    row.attempt = identity.attempt;
    row.world_size = identity.world_size;
    row.host = identity.host;
    row.spans = trace.value().spans().size();
    if (folder_->Has(row.sha256)) {
      row.status = CollectStatus::kAlready;
      return {};
    }
    const std::vector<JobProblem> problems = ProblemsOfFile(trace.value(), identity, file);
    OPSCOPE_TRY(Write(trace.value(), identity, row, problems));
    row.status = CollectStatus::kAdded;
    report_.problems.insert(report_.problems.end(), problems.begin(), problems.end());
    return {};
  }

  CollectReport TakeReport() { return std::move(report_); }

 private:
  Status Refuse(CollectedFile* row, const Error& why) {
    row->refusal = why.message;
    report_.problems.push_back({.file = row->file,
                                .kind = "foreign_file",
                                .severity = ProblemSeverity::kError,
                                .message = why.message,
                                .ranks = {}});
    return {};
  }

  Status Write(const Trace& trace, const FileIdentity& identity, const CollectedFile& row,
               const std::vector<JobProblem>& problems) {
    // A database per file, so that the memory of its tables is freed with it.
    OPSCOPE_ASSIGN(std::unique_ptr<JobDatabase> database, JobDatabase::Open(options_.python_module, 1));
    PartManifest part{.name = JobFolder::NewName(row.sha256), .sha256 = {row.sha256}, .files = {}, .replaces = {}};
    const std::vector<PartTable> tables = MakePartTables(trace, identity, row.file, row.sha256, problems);
    for (size_t i = 0; i < tables.size(); ++i) {
      if (tables[i]->view().rows == 0) continue;
      const JobTable& table = JobTables()[i];
      fs::path path(table.name);
      if (table.name == "spans") path /= "bucket=" + std::to_string(BucketOf(identity.rank));
      path /= "part-" + part.name + ".parquet";
      OPSCOPE_ASSIGN(const uint64_t rows, database->WritePart(table, tables[i], identity, IdOfSha256(row.sha256),
                                                              (fs::path(folder_->path()) / path).string()));
      part.files.push_back({std::string(table.name), path.string(), rows});
    }
    const fs::path path = fs::path("traces") / ("attempt=" + std::to_string(identity.attempt)) /
                          ("rank=" + std::to_string(identity.rank)) / ("part-" + part.name + ".opscope");
    const fs::path whole = fs::path(folder_->path()) / path;
    std::error_code failed;
    fs::create_directories(whole.parent_path(), failed);
    if (failed) return SystemErrorFor(whole.parent_path().string(), failed.value(), ErrorCode::kIo);
    OPSCOPE_TRY(ExportOpscope(trace, whole.string()));
    part.files.push_back({"traces", path.string(), trace.spans().size(), identity.rank_of_name});
    return folder_->Add(std::move(part));
  }

  // -1 for unknown ranks.
  int32_t BucketOf(int32_t rank) const { return rank < 0 ? -1 : rank / static_cast<int32_t>(folder_->bucket_ranks()); }

  JobFolder* const folder_;
  const CollectOptions& options_;
  CollectReport report_;
};

}  // namespace

Result<CollectReport> CollectFiles(const std::vector<std::string>& arguments, const CollectOptions& options) {
  return CatchBadAlloc(options.job, [&]() -> Result<CollectReport> {
    OPSCOPE_ASSIGN(const std::vector<std::string> files, ListFiles(arguments, options.job));
    if (const Result<const duckdb::Api*> api = duckdb::LoadDuckdb(options.python_module); !api.ok()) return api.error();
    OPSCOPE_ASSIGN(JobFolder folder, JobFolder::OpenOrCreate(options.job, options.bucket_ranks));
    Collector collector(&folder, options);
    for (size_t i = 0; i < files.size(); ++i) {
      if (options.on_progress) options.on_progress(i, files.size());
      OPSCOPE_TRY(collector.Collect(files[i]));
    }
    return collector.TakeReport();
  });
}

}  // namespace opscope

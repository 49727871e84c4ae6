// Writes one file per table (of `spans` one per bucket of ranks), and a manifest that replaces all others. Readers that
// opened JOB before still read the old files, so these are removed by the compaction after.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/thread_team.h"
#include "job/job_database.h"
#include "job/job_folder.h"
#include "opscope/job.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

// The files of each folder of a table: one but for `spans`, which has one per bucket.
std::map<std::string, std::vector<std::string>> FilesByFolder(const JobFolder& folder, std::string_view table) {
  std::map<std::string, std::vector<std::string>> files;
  for (const PartManifest& part : folder.parts()) {
    for (const PartFile& file : part.files) {
      if (file.table != table) continue;
      files[fs::path(file.path).parent_path().string()].push_back((fs::path(folder.path()) / file.path).string());
    }
  }
  return files;
}

Result<CompactReport> Compact(JobFolder* folder, const std::string& python_module) {
  OPSCOPE_TRY(folder->RemoveSuperseded());
  CompactReport report{folder->parts().size(), folder->parts().size()};
  if (folder->parts().size() < 2) return report;
  OPSCOPE_ASSIGN(std::unique_ptr<JobDatabase> database, JobDatabase::Open(python_module, AllowedProcessors()));
  PartManifest joined{.name = JobFolder::NewName("compact"), .sha256 = {}, .files = {}, .replaces = {}};
  for (const PartManifest& part : folder->parts()) {
    joined.replaces.push_back(part.name);
    joined.sha256.insert(joined.sha256.end(), part.sha256.begin(), part.sha256.end());
    for (const PartFile& file : part.files)
      if (file.table == "traces") joined.files.push_back(file);
  }
  for (const JobTable& table : JobTables()) {
    for (const auto& [subfolder, files] : FilesByFolder(*folder, table.name)) {
      const fs::path path = fs::path(subfolder) / ("part-" + joined.name + ".parquet");
      OPSCOPE_ASSIGN(const uint64_t rows,
                     database->JoinParts(table, files, (fs::path(folder->path()) / path).string()));
      joined.files.push_back({std::string(table.name), path.string(), rows});
    }
  }
  OPSCOPE_TRY(folder->Add(std::move(joined)));
  report.parts_after = folder->parts().size();
  return report;
}

}  // namespace

Result<CompactReport> CompactJob(const std::string& job, const std::string& python_module) {
  return CatchBadAlloc(job, [&]() -> Result<CompactReport> {
    OPSCOPE_ASSIGN(JobFolder folder, JobFolder::Open(job));
    return Compact(&folder, python_module);
  });
}

}  // namespace opscope

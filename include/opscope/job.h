// A job of many ranks as one folder. `CollectFiles` adds the traces of its ranks, one after the
// other, as Parquet files and as `.opscope` files; after that the traces themselves may be
// deleted. docs/reference/job.md describes the folder.
//
//   opscope::CollectOptions options{.job = "job"};
//   opscope::Result<opscope::CollectReport> report = opscope::CollectFiles({"rank0.json", "rank1.json"}, options);
//   opscope::Result<opscope::Trace> trace = opscope::OpenJobAsOne("job", {.ranks = {0}});
//
// Several processes may add to one JOB at once. A process that is killed leaves JOB as it was:
// a part counts only when its manifest is there.
//
// Parquet is written by DuckDB, which is found at run time (sql.h).
//
// Thread rule: any thread; each call is independent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "opscope/merge.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// Where a JOB is, and how files are read.
struct CollectOptions {
  // The folder; it is made if it does not exist.
  std::string job;
  // Of all files; nullopt: what each file or its path says, else 0.
  std::optional<int32_t> attempt;
  // Ranks whose spans lie in one folder. Of a JOB that exists its own number counts.
  uint32_t bucket_ranks = 128;
  // As in ImportOptions.
  uint64_t max_memory = 0;
  std::string format = {};
  // As in SqlOptions.
  std::string python_module = {};
  // Called before each file is read.
  std::function<void(size_t done, size_t total)> on_progress = {};
};

// What became of one file.
enum class CollectStatus : uint8_t {
  kAdded,
  // JOB has a file with the same content.
  kAlready,
  // It is no trace; CollectedFile::refusal says why.
  kRefused,
};

// One file.
struct CollectedFile {
  std::string file;
  CollectStatus status = CollectStatus::kRefused;
  // -1: unknown.
  int32_t rank = -1;
  // "metadata", "file_name", "none".
  std::string rank_from = "none";
  int32_t attempt = 0;
  // -1: unknown.
  int32_t world_size = -1;
  // "": unknown.
  std::string host;
  uint64_t spans = 0;
  // Of its bytes, in hexadecimal.
  std::string sha256;
  std::string refusal;
};

// The result of CollectFiles.
struct CollectReport {
  // In the order of the arguments; of a folder by path.
  std::vector<CollectedFile> files;
  // Of the files that were added or refused.
  std::vector<JobProblem> problems;
};

// Adds files, and the files `*.json`, `*.json.gz` and `*.opscope` below folders. One file at a
// time: memory does not grow with their number. kUnsupported: there is no DuckDB, or JOB has a
// newer version. kIo, kNotFound: JOB cannot be written; the files before stay added.
[[nodiscard]] Result<CollectReport> CollectFiles(const std::vector<std::string>& files, const CollectOptions& options);

// How many manifests a JOB had, and has.
struct CompactReport {
  uint64_t parts_before = 0, parts_after = 0;
};

// Joins the files of each table. The old files stay until no reader can use them: they are
// removed by the next compaction. Errors as CollectFiles.
[[nodiscard]] Result<CompactReport> CompactJob(const std::string& job, const std::string& python_module = {});

// True if the path is a folder that CollectFiles has made.
[[nodiscard]] bool IsJob(const std::string& path);

// Which attempts a JOB has, and that the last one is answered for unless JobSelection says another; "": it has one
// attempt, or is no JOB.
[[nodiscard]] std::string DescribeAttempts(const std::string& job);

// Which traces of a JOB.
struct JobSelection {
  // nullopt: the largest of JOB.
  std::optional<int32_t> attempt;
  // Empty: all.
  std::vector<int32_t> ranks;
  // Bytes that their traces may hold together: what does not fit, of the highest ranks, is left out with the Problem
  // over_memory_limit. 0: no limit, and kOutOfMemory if they need more memory than the machine has.
  uint64_t max_memory = 0;
};

// Whose clock the times of several ranks are on.
enum class JobClocks : uint8_t {
  // One clock for all ranks, as MergeTraces aligns them: for timelines.
  kAligned,
  // Each rank's own, less the earliest begin, which is TraceInfo::epoch_ns.
  kOwn,
};

// The chosen ranks as one trace, merged as MergeTraces does. Errors as OpenJobTraces.
[[nodiscard]] Result<Trace> OpenJobAsOne(const std::string& job, const JobSelection& selection = {},
                                         JobClocks clocks = JobClocks::kAligned);

// The traces of a JOB, for MergeTraces.
struct JobTraces {
  // One that cannot be read says why.
  std::vector<MergeInput> inputs;
  // Those that are of no input, for MergeOptions::of_job.
  std::vector<JobProblem> problems;
};

// Reads the traces that a JOB keeps. If none can be read, the error of the first is returned. kInvalidArgument: no such
// attempt or rank; the message names those that exist.
[[nodiscard]] Result<JobTraces> OpenJobTraces(const std::string& job, const JobSelection& selection = {});

}  // namespace opscope

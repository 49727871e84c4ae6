// The traces that a JOB keeps, for the verbs that answer over one trace or several. A trace's attempt and rank stand in
// its path, so that the files of other ranks are not opened.
//
// Example: of rank 3 alone, traces/attempt=0/rank=3/part-x.opscope is read, and no other file.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/saturating.h"
#include "job/job_folder.h"
#include "job/stored_traces.h"
#include "opscope/import.h"
#include "opscope/job.h"
#include "opscope/merge.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

Result<std::vector<JobTrace>> OpenTraces(const std::string& job, const JobSelection& selection) {
  const Result<JobFolder> folder = JobFolder::Open(job);
  if (!folder.ok()) return folder.error();
  std::vector<StoredTrace> stored = ListStoredTraces(folder.value());
  const Result<int32_t> chosen = ChooseAttempt(job, stored, selection.attempt);
  if (!chosen.ok()) return chosen.error();
  const int32_t attempt = chosen.value();
  std::set<int32_t> ranks;
  std::erase_if(stored, [&](const StoredTrace& trace) { return trace.attempt != attempt; });
  for (const StoredTrace& trace : stored)
    ranks.insert(trace.rank);
  const std::set<int32_t> wanted(selection.ranks.begin(), selection.ranks.end());
  for (const int32_t rank : wanted) {
    if (ranks.contains(rank)) continue;
    return Error{ErrorCode::kInvalidArgument,
                 job + ": there is no rank " + std::to_string(rank) + "; there are: " + ListOfNumbers(ranks)};
  }
  if (!wanted.empty()) std::erase_if(stored, [&](const StoredTrace& trace) { return !wanted.contains(trace.rank); });
  std::vector<JobTrace> traces;
  if (selection.max_memory == 0) OPSCOPE_TRY(CheckMemoryFor(job, stored));
  uint64_t held = 0;
  for (const StoredTrace& each : stored) {  // the highest ranks are those that do not fit
    const uint64_t limit = selection.max_memory, left = limit == 0 ? 0 : std::max(held + kHeadOfTrace, limit) - held;
    Result<Trace> trace = ImportFile(each.path, {.max_memory = left});
    if (!trace.ok()) return trace.error();
    held += trace.value().memory_bytes();
    traces.push_back({std::move(trace).value(), each.path, each.rank});
  }
  const auto first_begin = [](const JobTrace& trace) {
    int64_t first = INT64_MAX;
    for (const Timestamp start : trace.trace.spans().start)
      first = std::min(first, start.ns);
    return SaturatingAdd(trace.trace.info().epoch_ns, first);
  };
  std::stable_sort(traces.begin(), traces.end(), [&](const JobTrace& a, const JobTrace& b) {
    return std::pair(a.rank, first_begin(a)) < std::pair(b.rank, first_begin(b));
  });
  return traces;
}

}  // namespace

bool IsJob(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / "_opscope" / "job.json", ignored);
}

Result<Trace> OpenJobAsOne(const std::string& job, const JobSelection& selection, JobClocks clocks) {
  Result<std::vector<JobTrace>> traces = OpenJobTraces(job, selection);
  if (!traces.ok()) return traces.error();
  if (traces.value().size() == 1 && clocks == JobClocks::kAligned) return std::move(traces.value()[0].trace);
  std::vector<MergeInput> inputs;
  for (JobTrace& each : traces.value())
    inputs.push_back({std::move(each.trace), each.file, each.rank});
  MergeOptions options;
  options.is_choice = !selection.ranks.empty();
  options.keeps_clocks = clocks == JobClocks::kOwn;
  Result<Merged> merged = MergeTraces(std::move(inputs), options);
  if (!merged.ok()) return merged.error();
  return std::move(merged.value().trace);
}

Result<std::vector<JobTrace>> OpenJobTraces(const std::string& job, const JobSelection& selection) {
  return CatchBadAlloc(job, [&] { return OpenTraces(job, selection); });
}

}  // namespace opscope

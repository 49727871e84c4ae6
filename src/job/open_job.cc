// The traces that a JOB keeps, for the verbs that answer over one trace or several. A trace's attempt and rank are in
// its path, so that the files of other ranks are not opened.
//
// Example: of rank 3 alone, traces/attempt=0/rank=3/part-x.opscope is read, and no other file.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "job/job_folder.h"
#include "job/job_problems.h"
#include "job/stored_traces.h"
#include "opscope/import.h"
#include "opscope/job.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

Result<JobTraces> OpenTraces(const std::string& job, const JobSelection& selection) {
  OPSCOPE_ASSIGN(const JobFolder folder, JobFolder::Open(job));
  std::vector<StoredTrace> stored = ListStoredTraces(folder);
  OPSCOPE_ASSIGN(const int32_t attempt, ChooseAttempt(job, stored, selection.attempt));
  JobTraces traces;
  traces.problems = ProblemsOfFolder(folder, stored, attempt);
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
  std::vector<MergeInput>& inputs = traces.inputs;
  std::optional<Error> first_unreadable;
  if (selection.max_memory == 0) OPSCOPE_TRY(CheckMemoryFor(job, stored));
  uint64_t held = 0;
  for (const StoredTrace& each : stored) {  // the highest ranks are those that do not fit
    const uint64_t limit = selection.max_memory, left = limit == 0 ? 0 : std::max(held + kHeadOfTrace, limit) - held;
    Result<Trace> trace = ImportFile(each.path, {.max_memory = left});
    if (trace.ok()) {
      held += trace.value().memory_bytes();
      inputs.push_back({std::move(trace).value(), each.path, each.rank});
      inputs.back().problems = ProblemsOfRank(each.path, each.rank, each.rank_of_name);
      continue;
    }
    if (trace.error().code == ErrorCode::kOutOfMemory) return trace.error();
    inputs.push_back({Trace(), each.path, each.rank, MessageWithoutFile(trace.error(), each)});
    if (!first_unreadable) first_unreadable = trace.error();
  }
  if (std::all_of(inputs.begin(), inputs.end(), [](const MergeInput& input) { return !input.unreadable.empty(); }))
    return *first_unreadable;
  return traces;
}

bool IsOneWithoutProblems(const JobTraces& traces) {
  if (traces.inputs.size() != 1 || !traces.problems.empty()) return false;
  const MergeInput& input = traces.inputs[0];
  return input.unreadable.empty() && input.problems.empty() && input.trace.problems().size() == 0;
}

}  // namespace

bool IsJob(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / "_opscope" / "job.json", ignored);
}

std::string DescribeAttempts(const std::string& job) {
  const Result<JobFolder> folder = JobFolder::Open(job);
  if (!folder.ok()) return "";
  std::set<int32_t> attempts;
  for (const StoredTrace& trace : ListStoredTraces(folder.value()))
    attempts.insert(trace.attempt);
  return attempts.size() < 2 ? "" : SeveralAttempts(attempts, *attempts.rbegin()).message;
}

Result<Trace> OpenJobAsOne(const std::string& job, const JobSelection& selection, JobClocks clocks) {
  OPSCOPE_ASSIGN(JobTraces traces, OpenJobTraces(job, selection));
  const bool is_choice = !selection.ranks.empty();
  if (is_choice && clocks == JobClocks::kAligned && IsOneWithoutProblems(traces))
    return std::move(traces.inputs[0].trace);  // a merge would give a copy of it
  MergeOptions options;
  options.is_choice = is_choice;
  options.keeps_clocks = clocks == JobClocks::kOwn;
  options.of_job = std::move(traces.problems);
  OPSCOPE_ASSIGN(Merged merged, MergeTraces(std::move(traces.inputs), options));
  return std::move(merged.trace);
}

Result<JobTraces> OpenJobTraces(const std::string& job, const JobSelection& selection) {
  return CatchBadAlloc(job, [&] { return OpenTraces(job, selection); });
}

}  // namespace opscope

// Answers whose rows are of one rank each, such as how busy a device was. Merging the traces of all ranks would give
// the same rows with the memory of all; here one rank is read, computed and dropped before the next.
//
// Example: 10,000 ranks with 30,000 spans each have 300 million spans, which would take 24 GB at 80 bytes per span. One
// rank takes 2.4 MB; the rows of the result are kept.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "job/job_attempt.h"
#include "job/job_folder.h"
#include "job/stored_traces.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/import.h"
#include "opscope/merge.h"
#include "opscope/report/devices.h"
#include "opscope/report/job_report.h"
#include "opscope/report/memory.h"

namespace opscope {
namespace {

constexpr size_t kDigits = 16;  // of the SHA-256 in the name of a part

constexpr char kFilesThatCount[] =
    "SELECT sha256, file, start_ns, CASE WHEN spans > 0 THEN 1 ELSE 0 END AS has_spans FROM job_judged_files "
    "WHERE fault IS NULL";

class RankReader {
 public:
  RankReader(JobAttempt* attempt, const RankByRank& question) : attempt_(*attempt), question_(question) {}

  Result<VerbResult> Read(const std::string& job) {
    OPSCOPE_ASSIGN(const JobFolder folder, JobFolder::Open(job));
    OPSCOPE_TRY(ReadFiles());
    std::vector<StoredTrace> stored = ListStoredTraces(folder);
    std::erase_if(stored, [&](const StoredTrace& trace) {
      return trace.attempt != attempt_.number() || !files_.contains(trace.name.substr(0, kDigits));
    });
    for (size_t first = 0, end = 0; first < stored.size(); first = end) {
      while (end < stored.size() && stored[end].rank == stored[first].rank)
        ++end;
      if (question_.on_progress) question_.on_progress(first, stored.size());
      const auto of_rank = std::span<const StoredTrace>(stored).subspan(first, end - first);
      if (question_.max_memory == 0) OPSCOPE_TRY(CheckMemoryFor(job, of_rank));
      OPSCOPE_TRY(AddRank(of_rank));
    }
    if (!has_result_ && first_unreadable_) return *first_unreadable_;
    if (!has_result_) return Error{ErrorCode::kInvalidArgument, job + ": the JOB has no traces"};
    for (ResultTable& table : result_.tables) {
      for (const auto& [list, key] : question_.orders)
        if (table.description().list == list) OPSCOPE_TRY(table.Sort(key));
    }
    return std::move(result_);
  }

 private:
  // Which files count, and where time begins. What was collected after the engine was opened does not.
  Status ReadFiles() {
    OPSCOPE_ASSIGN(const RowValues files, attempt_.Query(kFilesThatCount));
    for (const JobProblem& problem : attempt_.problems())
      known_.emplace(problem.file, problem.kind);
    for (size_t i = 0; i < files.size(); ++i) {
      files_.emplace(files.Text(i, "sha256").substr(0, kDigits), files.Text(i, "file"));
      if (files.Integer(i, "has_spans") != 1) continue;
      const int64_t start = files.Integer(i, "start_ns").value_or(0);
      epoch_ns_ = std::min(epoch_ns_.value_or(start), start);
    }
    return {};
  }

  Status AddRank(std::span<const StoredTrace> stored) {
    std::vector<MergeInput> inputs;
    ImportOptions options;
    if (question_.max_memory > 0)
      options.max_memory = std::max<uint64_t>(question_.max_memory / stored.size(), kHeadOfTrace);
    for (const StoredTrace& each : stored) {
      Result<Trace> trace = ImportFile(each.path, options);
      if (!trace.ok()) {
        OPSCOPE_TRY(LeaveOut(each, trace.error()));
        continue;
      }
      AddDamage(trace.value(), each);
      inputs.push_back({std::move(trace).value(), each.path, each.rank});
    }
    if (inputs.empty()) return {};
    MergeOptions merge;
    merge.is_choice = merge.keeps_clocks = true;
    merge.epoch_ns = epoch_ns_;
    OPSCOPE_ASSIGN(Merged merged, MergeTraces(std::move(inputs), merge));
    VerbResult of_rank = question_.compute(merged.trace);
    if (!has_result_) {
      result_ = std::move(of_rank);
      has_result_ = true;
      return {};
    }
    AppendRows(std::move(of_rank), &result_);
    return {};
  }

  // A trace that cannot be read costs its rows alone, unless the machine is short of memory.
  Status LeaveOut(const StoredTrace& stored, const Error& error) {
    if (error.code == ErrorCode::kOutOfMemory) return error;
    if (!first_unreadable_) first_unreadable_ = error;
    attempt_.AddProblem({.file = stored.path,
                         .kind = "unreadable_trace",
                         .severity = ProblemSeverity::kError,
                         .message = MessageWithoutFile(error, stored),
                         .ranks = {stored.rank}});
    return {};
  }

  // The tables of the JOB know the problems that the file had when it was collected, not what happened to it since.
  void AddDamage(const Trace& trace, const StoredTrace& stored) {
    const ProblemColumns& problems = trace.problems();
    const std::string& collected = files_.find(stored.name.substr(0, kDigits))->second;
    for (size_t i = 0; i < problems.size(); ++i) {
      const std::string_view kind = trace.text(problems.kind[i]);
      if (problems.severity[i] == ProblemSeverity::kInfo || known_.contains({collected, std::string(kind)})) continue;
      attempt_.AddProblem({.file = stored.path,
                           .kind = std::string(kind),
                           .severity = problems.severity[i],
                           .count = problems.count[i],
                           .first_offset = problems.first_offset[i],
                           .message = std::string(trace.text(problems.message[i])),
                           .ranks = {stored.rank}});
    }
  }

  JobAttempt& attempt_;
  const RankByRank& question_;
  std::map<std::string, std::string, std::less<>> files_;  // by the digits of their parts, what was collected
  std::set<std::pair<std::string, std::string>> known_;    // files that were collected, and kinds of their problems
  std::optional<int64_t> epoch_ns_;
  std::optional<Error> first_unreadable_;
  VerbResult result_;
  bool has_result_ = false;
};

}  // namespace

RankByRank DevicesByRank() {
  RankByRank question;
  question.compute = [](const Trace& trace) {
    return DeviceVerbResult(trace, MeasureDeviceReport(trace, {.devices = true, .kernels = true, .copies = true}));
  };
  question.orders = {{"kernels", "total_ns"}, {"copies", "total_ns"}};
  return question;
}

RankByRank MemoryByRank() {
  RankByRank question;
  question.compute = [](const Trace& trace) { return MemoryVerbResult(trace, MeasureMemoryUsage(trace), 0); };
  return question;
}

Result<JobAnswer> AnswerRankByRank(const std::string& job, JobEngine* engine, std::optional<int32_t> attempt,
                                   const RankByRank& question) {
  return CatchBadAlloc(job, [&]() -> Result<JobAnswer> {
    JobAttempt chosen(engine);
    OPSCOPE_TRY(chosen.Choose(attempt));
    OPSCOPE_TRY(chosen.FindProblems("file_problems.sql"));
    OPSCOPE_ASSIGN(VerbResult result, RankReader(&chosen, question).Read(job));
    return chosen.Complete(std::move(result));
  });
}

}  // namespace opscope

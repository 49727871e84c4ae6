// Answers that need one rank at a time: rows of one rank each, such as how busy a device was, and sums over all ranks.
// Merging the traces of all ranks would give the same rows with the memory of all; here one rank is read, added to the
// result and dropped before the next.
//
// Example: 10,000 ranks with 30,000 spans each have 300 million spans, which would take 24 GB at 80 bytes per span. One
// rank takes 2.4 MB; the result is kept.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
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
#include "job/summary_of_ranks.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/import.h"
#include "opscope/merge.h"
#include "opscope/report/critical_path.h"
#include "opscope/report/devices.h"
#include "opscope/report/job_report.h"
#include "opscope/report/memory.h"
#include "opscope/report/summary.h"

namespace opscope {
namespace {

constexpr size_t kDigits = 16;  // of the SHA-256 in the name of a part

constexpr char kFilesThatCount[] =
    "SELECT sha256, file, start_ns, CASE WHEN spans > 0 THEN 1 ELSE 0 END AS has_spans FROM job_judged_files "
    "WHERE fault IS NULL";

class RankReader {
 public:
  RankReader(JobAttempt* attempt, const RankByRank& question) : attempt_(*attempt), question_(question) {}

  // Adds all ranks to the question.
  Status Read(const std::string& job) {
    OPSCOPE_ASSIGN(const JobFolder folder, JobFolder::Open(job));
    OPSCOPE_TRY(ReadFiles());
    std::vector<StoredTrace> stored = ListStoredTraces(folder);
    std::erase_if(stored, [&](const StoredTrace& trace) {
      return trace.attempt != attempt_.number() || !files_.contains(trace.name.substr(0, kDigits));
    });
    // The order of merged ranks, too.
    std::stable_partition(stored.begin(), stored.end(), [](const StoredTrace& trace) { return trace.rank >= 0; });
    for (size_t first = 0, end = 0; first < stored.size(); first = end) {
      while (end < stored.size() && stored[end].rank == stored[first].rank)
        ++end;
      if (question_.on_progress) question_.on_progress(first, stored.size());
      const auto of_rank = std::span<const StoredTrace>(stored).subspan(first, end - first);
      if (question_.max_memory == 0) OPSCOPE_TRY(CheckMemoryFor(job, of_rank));
      OPSCOPE_TRY(AddRank(of_rank));
    }
    if (has_rank_) return {};
    if (first_unreadable_) return *first_unreadable_;
    return Error{ErrorCode::kInvalidArgument, job + ": the JOB has no traces"};
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
    OPSCOPE_ASSIGN(const Merged merged, MergeTraces(std::move(inputs), merge));
    question_.add(merged.trace, stored.front().rank);
    has_rank_ = true;
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
  bool has_rank_ = false;
};

Status CheckForSteps(JobAttempt* attempt) {
  OPSCOPE_ASSIGN(const RowValues steps, attempt->Query("SELECT COUNT(*) AS steps FROM steps WHERE attempt = " +
                                                       std::to_string(attempt->number())));
  if (steps.Integer(0, "steps").value_or(0) > 0) return {};
  return Error{ErrorCode::kUnsupported, "the JOB has no steps"};
}

// The rows of all ranks below each other, those of unknown rank first; then the lists that `orders` names by a key each.
using ListOrders = std::vector<std::pair<std::string_view, std::string_view>>;  // list, key

RankByRank RowsByRank(ComputeRank of_rank, ListOrders orders) {
  const auto whole = std::make_shared<std::optional<VerbResult>>();
  RankByRank question;
  question.add = [whole, of_rank = std::move(of_rank)](const Trace& trace, int32_t rank) {
    VerbResult result = of_rank(trace);
    if (*whole && rank < 0) std::swap(result, **whole);
    if (*whole) {
      AppendRows(std::move(result), &**whole);
    } else {
      *whole = std::move(result);
    }
  };
  question.finish = [whole, orders = std::move(orders)](Verdict) {
    OPSCOPE_CHECK(whole->has_value());
    VerbResult result = std::move(**whole);
    for (ResultTable& table : result.tables) {
      for (const auto& [list, key] : orders)
        if (table.description().list == list) OPSCOPE_CHECK(table.Sort(key).ok());
    }
    return result;
  };
  return question;
}

}  // namespace

RankByRank DevicesByRank(std::optional<SpanFilter> filter, ComputeRank of_rank) {
  if (of_rank == nullptr) {
    of_rank = [filter = std::move(filter)](const Trace& trace) {
      const SelectedSpans selected(filter, trace);
      return DeviceVerbResult(
          trace,
          MeasureDeviceReport(trace, {.devices = true, .kernels = true, .copies = true, .selected = selected.get()}));
    };
  }
  return RowsByRank(std::move(of_rank), {{"kernels", "total_ns"}, {"copies", "total_ns"}});
}

RankByRank MemoryByRank(std::optional<SpanFilter> filter, ComputeRank of_rank) {
  if (of_rank == nullptr) {
    of_rank = [filter = std::move(filter)](const Trace& trace) {
      return MemoryVerbResult(trace, MeasureMemoryUsage(trace, SelectedSpans(filter, trace).get()), 0);
    };
  }
  return RowsByRank(std::move(of_rank), {});
}

RankByRank CriticalPathByRank(std::optional<SpanFilter> filter, ComputeRank of_rank) {
  if (of_rank == nullptr) {
    of_rank = [filter = std::move(filter)](const Trace& trace) {
      const SelectedSpans selected(filter, trace);
      const CriticalPathReport report = FindCriticalPaths(trace, {.selected = selected.get()});
      VerbResult result;
      result.tables = {CriticalPathEdgeTable(trace, report), CriticalPathTable(trace, report.paths)};
      return result;
    };
  }
  return RowsByRank(std::move(of_rank), {});
}

bool CanSelectByRank(const SpanFilter& filter) {
  constexpr FilterField kOfAllRanks[] = {FilterField::kStart, FilterField::kThread, FilterField::kProcess,
                                         FilterField::kCorrelation};
  return std::none_of(std::begin(kOfAllRanks), std::end(kOfAllRanks),
                      [&](FilterField field) { return filter.Uses(field); });
}

RankByRank SummaryByRank(const OpSummaryOptions& options, std::optional<SpanFilter> filter, MakeSummaryResult finish) {
  if (finish == nullptr) {
    finish = [](const JoinedSummary& joined) {
      return SummaryVerbResult(joined.names, joined.summary, joined.async_rows);
    };
  }
  const auto ops = std::make_shared<SummaryOfRanks>(options, std::move(filter));
  RankByRank question;
  question.add = [ops](const Trace& trace, int32_t) { ops->Add(trace); };
  question.finish = [ops, finish = std::move(finish)](Verdict) { return finish(std::move(*ops).Join()); };
  return question;
}

Result<JobCondition> ReadRankByRank(const std::string& job, JobEngine* engine, std::optional<int32_t> attempt,
                                    const RankByRank& question) {
  return CatchBadAlloc(job, [&]() -> Result<JobCondition> {
    JobAttempt chosen(engine);
    OPSCOPE_TRY(chosen.Choose(attempt));
    OPSCOPE_TRY(chosen.FindProblems("file_problems.sql"));
    if (question.needs_steps) OPSCOPE_TRY(CheckForSteps(&chosen));
    OPSCOPE_TRY(RankReader(&chosen, question).Read(job));
    return chosen.Condition();
  });
}

Result<JobAnswer> AnswerRankByRank(const std::string& job, JobEngine* engine, std::optional<int32_t> attempt,
                                   const RankByRank& question) {
  return CatchBadAlloc(job, [&]() -> Result<JobAnswer> {
    OPSCOPE_ASSIGN(JobCondition condition, ReadRankByRank(job, engine, attempt, question));
    VerbResult result = question.finish(condition.quality.verdict);
    return CompleteAnswer(std::move(result), std::move(condition));
  });
}

}  // namespace opscope

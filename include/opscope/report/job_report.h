// Answers over a JOB: one question to all ranks. docs/reference/job.md defines each number.
//
//   opscope::Result<std::unique_ptr<opscope::JobEngine>> engine = opscope::OpenDuckdbEngine("job");
//   opscope::Result<opscope::JobAnswer> answer = opscope::AnswerJob("stragglers", engine.value().get());
//   Print(opscope::ResultJson(answer.value().result, {}));
//
// Thread rule: any thread; an engine is used by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/analysis/async_summary.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/quality.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/job.h"
#include "opscope/job_engine.h"
#include "opscope/report/result_table.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// A question to all ranks.
struct JobQuestion {
  // nullopt: the largest of the JOB.
  std::optional<int32_t> attempt;
  // Of `collectives`: with the ranks of each.
  bool with_members = false;
  // Of `summary`: the quantiles come from the spans, which takes longer; else from counts by bins
  // of durations: at most 2.2 % too large, never too small.
  bool is_exact = false;
};

// The rows, with problems and quality as JSON, and the problems themselves.
struct JobAnswer {
  VerbResult result;
  std::vector<JobProblem> problems;
};

// verb: "ranks", "collectives", "stragglers", "critical-ranks"; "summary": counts and quantiles
// by name; "steps".
// kInvalidArgument: another verb, or no such attempt. Other errors are those of the engine.
[[nodiscard]] Result<JobAnswer> AnswerJob(std::string_view verb, JobEngine* engine, const JobQuestion& question = {});

// The problems of the files of a JOB and how far its data can be trusted, for answers that AnswerJob does
// not make, such as a query of the user.
struct JobCondition {
  std::vector<JobProblem> problems;
  Quality quality;

  // Number of problems of severity data_loss or error.
  [[nodiscard]] uint64_t losses() const;
  // Adds that of a JOB to the condition of several. name: of the JOB; "" if there is no other.
  void Append(const std::string& name, const JobCondition& more);
};

// The result with this condition.
[[nodiscard]] JobAnswer CompleteAnswer(VerbResult result, JobCondition condition);

// nullopt: of the largest attempt. Reads the tables `ranks` and `problems`. Errors as AnswerJob.
[[nodiscard]] Result<JobCondition> FindJobCondition(JobEngine* engine, std::optional<int32_t> attempt = {});

// An answer that is computed from the traces of one rank after the other, so that the memory of one
// rank and of the result is enough.
struct RankByRank {
  // Takes one rank, whose recording windows are one trace. Times are those of the rank's own clock less the
  // earliest begin of the attempt. Called by rank; traces of unknown rank are one with rank -1, the last.
  std::function<void(const Trace& trace, int32_t rank)> add = {};
  // The result of all ranks. Called once, if there was a rank. verdict: of the data of the attempt.
  std::function<VerbResult(Verdict verdict)> finish = {};
  // True: the question is refused if the attempt has no steps. Without steps, the result of single ranks
  // would differ from that of the merged ranks.
  bool needs_steps = false;
  // Bytes that the traces of one rank may hold: what does not fit is left out with the Problem
  // over_memory_limit. 0: no limit, and kOutOfMemory if a rank needs more memory than the machine has.
  uint64_t max_memory = 0;
  // Called before each rank is read.
  std::function<void(size_t done, size_t total)> on_progress = {};
};

// Asks all ranks. Files that do not fit together are left out, as in AnswerJob. A trace that cannot be
// read is left out with the problem unreadable_trace. Errors as AnswerJob, and that of the first trace if
// none can be read. kUnsupported: the question needs steps, and the attempt has none.
[[nodiscard]] Result<JobAnswer> AnswerRankByRank(const std::string& job, JobEngine* engine,
                                                 std::optional<int32_t> attempt, const RankByRank& question);
// The same for an answer about several JOBs: does not call question.finish, which may be empty.
[[nodiscard]] Result<JobCondition> ReadRankByRank(const std::string& job, JobEngine* engine,
                                                  std::optional<int32_t> attempt, const RankByRank& question);

// True if the filter chooses the same spans of a rank alone as of the merged ranks. False for `start`, which counts from
// the first begin of all ranks, for `thread` and `process`, whose labels depend on all ranks, and for `correlation`.
[[nodiscard]] bool CanSelectByRank(const SpanFilter& filter);

// The following questions are about the spans that `filter` chooses; nullopt: all. REQUIRES: CanSelectByRank(*filter).

// Computes the result of one rank.
using ComputeRank = std::function<VerbResult(const Trace& trace)>;
// The questions of `opscope devices` and `opscope memory`: the rows of all ranks below each other, and
// kernels and copies by their time. of_rank: nullptr computes all lists; another one chooses spans itself.
// REQUIRES: `of_rank` orders kernels and copies by their time, too.
[[nodiscard]] RankByRank DevicesByRank(std::optional<SpanFilter> filter = {}, ComputeRank of_rank = nullptr);
[[nodiscard]] RankByRank MemoryByRank(std::optional<SpanFilter> filter = {}, ComputeRank of_rank = nullptr);

// The question of `opscope critical-path`: the edges of the paths of all ranks below each other, and the paths. Each
// rank has a path of its own. of_rank: nullptr computes all edges; another one chooses spans itself. The result
// holds all rows that `of_rank` returns.
[[nodiscard]] RankByRank CriticalPathByRank(std::optional<SpanFilter> filter = {}, ComputeRank of_rank = nullptr);

// The question of `opscope steps`. AnswerJob gives the steps with all spans without reading them.
[[nodiscard]] RankByRank StepsByRank(std::optional<SpanFilter> filter);

// The question of `opscope advise`. It keeps some numbers per rank and step.
[[nodiscard]] RankByRank AdviseByRank(std::optional<SpanFilter> filter = {});

// The operator summary of all ranks.
struct JoinedSummary {
  // Has the texts that the rows refer to, and nothing else.
  Trace names;
  OpSummary summary;
  // As SummarizeAsyncSpans.
  // Empty if spans are chosen, for conditions are on the spans of threads and streams alone.
  std::vector<AsyncSummaryRow> async_rows;
};

// False for keys whose texts depend on all ranks, such as the number that is added to threads of equal names,
// and for call stacks, whose texts may need more memory than the traces.
[[nodiscard]] bool CanSummarizeByRank(GroupKey key);
// Makes the result of `opscope summary`.
using MakeSummaryResult = std::function<VerbResult(const JoinedSummary& joined)>;
// The question of `opscope summary`. It keeps four bytes per span. finish: nullptr makes that of
// SummaryVerbResult. REQUIRES: the options have no `overhead`, `selected` and `max_key_bytes`, and
// CanSummarizeByRank is true for each key.
[[nodiscard]] RankByRank SummaryByRank(const OpSummaryOptions& options = {}, std::optional<SpanFilter> filter = {},
                                       MakeSummaryResult finish = nullptr);

}  // namespace opscope

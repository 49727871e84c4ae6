// Prints the answer of a verb over a JOB, for the verbs that have no other input and for those that may have one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cli/result_options.h"
#include "cli/result_verb.h"
#include "cli/verb.h"
#include "opscope/cli.h"
#include "opscope/job_engine.h"
#include "opscope/report/job_report.h"

namespace opscope {

// What a verb asks a JOB for, and how it prints the answer.
struct JobRequest {
  const std::string& verb;
  const CommonOptions& common;
  const ResultVerbOptions& result;
  std::optional<SpanUse> use = {};  // what the analysis of a trace reads, for --explain
};

// Asks the engine that common.engine names, and prints problems and the rows, or the error. Returns the exit code:
// kExitPartial if data is lost.
using AskJob = std::function<Result<JobAnswer>(JobEngine* engine)>;
int AnswerOverJob(const std::string& job, const JobRequest& request, const CliHost& host, const AskJob& ask,
                  ResultWriter* writer);
// A question to several JOBs, which have one answer.
struct QuestionToJobs {
  // Takes one rank of jobs[number]. rank: as RankByRank::add.
  std::function<void(size_t number, const Trace& trace, int32_t rank)> add;
  // Takes the condition of jobs[number], after its ranks. May be empty.
  std::function<void(size_t number, const JobCondition& condition)> end_job = {};
  // Prints the answer, after all ranks of all JOBs; returns the exit code.
  std::function<int(const JobCondition& condition)> finish;
  bool needs_steps = false;  // as RankByRank::needs_steps
};
// Asks one rank after the other. Returns the exit code. nullopt: the ranks have to be merged, since there is no DuckDB or
// a question that needs steps found none.
std::optional<int> AskRanksOfJobs(std::span<const std::string> jobs, const CommonOptions& common,
                                  const QuestionToJobs& question, const CliHost& host);
// Prints an answer about JOBs in this condition. Its basis has a row per JOB.
int PrintAnswerOfJobs(std::span<const std::string> jobs, const JobRequest& request, VerbResult result,
                      const JobCondition& condition, ResultWriter* writer);
// The same for a question to one JOB. filter: the one that `question` has. nullopt also if the filter needs all ranks.
std::optional<int> AnswerOneRankAtATime(const std::string& job, const JobRequest& request,
                                        const std::optional<SpanFilter>& filter, const RankByRank& question,
                                        const CliHost& host, ResultWriter* writer);

// How a ResultVerb answers over a JOB without a merge of its ranks: from its tables, or from one rank after the other,
// as `question` joins their results. REQUIRES: `host` outlives the verb.
JobAnswerer AnswerFromTables(const CliHost& host);
JobAnswerer AnswerByRanks(RankByRank (*question)(std::optional<SpanFilter> filter, ComputeRank of_rank),
                          const CliHost& host);
JobAnswerer AnswerByRanks(RankByRank (*question)(std::optional<SpanFilter> filter), const CliHost& host);

}  // namespace opscope

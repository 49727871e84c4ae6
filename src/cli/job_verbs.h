// Prints the answer of a verb over a JOB, for the verbs that have no other input and for those that may have one.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
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
  // Spans were chosen, by which neither the tables nor single ranks answer.
  bool is_selection = false;
};

// Asks the engine that common.engine names, and prints problems and the rows, or the error. Returns the exit code:
// kExitPartial if data is lost.
using AskJob = std::function<Result<JobAnswer>(JobEngine* engine)>;
int AnswerOverJob(const std::string& job, const JobRequest& request, const CliHost& host, const AskJob& ask,
                  ResultWriter* writer);
// Asks one rank after the other. nullopt: the ranks have to be merged, since there is no DuckDB, spans are chosen,
// --explain was given, or a question that needs steps found none.
std::optional<int> AnswerOneRankAtATime(const std::string& job, const JobRequest& request, RankByRank question,
                                        const CliHost& host, ResultWriter* writer);

// How a ResultVerb answers over a JOB without a merge of its ranks: from its tables, or from one rank after the other,
// as `question` joins their results. REQUIRES: `host` outlives the verb.
JobAnswerer AnswerFromTables(const CliHost& host);
JobAnswerer AnswerByRanks(RankByRank (*question)(ComputeRank of_rank), const CliHost& host);
JobAnswerer AnswerByRanks(RankByRank (*question)(), const CliHost& host);

}  // namespace opscope

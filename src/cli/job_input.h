// A JOB as the input of a page: what all ranks answer, and the spans of as many ranks as a page can show.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "opscope/analysis/quality.h"
#include "opscope/job.h"
#include "opscope/report/job_overview.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct JobInput {
  Trace trace;
  // nullptr: there are no answers, for the reason in `no_overview_reason`.
  std::shared_ptr<const JobOverview> overview;
  std::string no_overview_reason;
  // Those in the trace; empty: all.
  std::vector<int32_t> ranks;
};

// ranks: those whose spans to read; empty: all, or as many as common.max_memory lets a page show. Without DuckDB there
// are no answers, and the trace has all ranks.
[[nodiscard]] Result<JobInput> OpenJobInput(const std::string& job, const CommonOptions& common,
                                            const std::vector<int32_t>& ranks, const CliHost& host);

// Says on standard error, unless common.quiet: the problems, why there are no answers, and which ranks the page shows.
// Gives the exit code of a damaged job.
int ReportJobInput(const JobInput& input, const std::string& job, const CommonOptions& common);

// The error with the JOB's name in front.
[[nodiscard]] Error NameJob(const std::string& job, const Error& error);
// kExitPartial if a problem means that data is lost.
[[nodiscard]] int ExitForProblems(const std::vector<JobProblem>& problems);
// Says on standard error, unless common.quiet, the problems of a JOB and how far its data can be trusted, which JSON has,
// too. Gives the exit code of a damaged job.
int ReportJobCondition(const std::string& job, const std::vector<JobProblem>& problems, const Quality& quality,
                       const CommonOptions& common);
// Losses and hints what to do, or with common.verbose harmless ones too.
void ReportJobProblems(const std::vector<JobProblem>& problems, const CommonOptions& common);

// The numbers of --ranks. The error names the option.
[[nodiscard]] Result<std::vector<int32_t>> ReadRanks(const std::vector<std::string>& texts);

}  // namespace opscope

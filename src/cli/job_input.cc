// Opens a JOB for a page. The answers over all ranks come from the tables of the JOB and need little memory; the spans
// of all ranks may need more than there is. So the answers come first, and say whose spans are worth showing.
//
// Example: 10,000 ranks of 30,000 spans are 300 million spans. The page has the answers of all ranks, and the spans of
// the stragglers, the ranks on the critical path and the lowest others, 20 million together.
// SPDX-License-Identifier: Apache-2.0
#include "cli/job_input.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/assign.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "opscope/job_engine.h"
#include "opscope/report/quality.h"

namespace opscope {
namespace {

// A Trace takes about 70 bytes per span, the results of a page 40.
constexpr uint64_t kBytesPerSpan = 110;
constexpr uint64_t kMaxSpans = 20'000'000;

Result<JobOverview> AskAllRanks(const std::string& job, std::optional<int32_t> attempt, const CliHost& host) {
  OPSCOPE_ASSIGN(const std::unique_ptr<JobEngine> engine, OpenDuckdbEngine(job, DuckdbModule(host)));
  return AnswerJobOverview(engine.get(), attempt);
}

}  // namespace

Result<std::vector<int32_t>> ReadRanks(const std::vector<std::string>& texts) {
  std::vector<int32_t> ranks;
  for (const std::string& text : texts) {
    OPSCOPE_ASSIGN(const int32_t rank, ReadCount("--ranks", text));
    ranks.push_back(rank);
  }
  return ranks;
}

Result<JobInput> OpenJobInput(const std::string& job, const CommonOptions& common, const std::vector<int32_t>& ranks,
                              const CliHost& host) {
  JobInput input;
  input.ranks = ranks;
  Result<JobOverview> overview = AskAllRanks(job, common.attempt, host);
  if (overview.ok()) {
    const uint64_t most = common.max_memory > 0 ? common.max_memory / kBytesPerSpan : kMaxSpans;
    if (ranks.empty()) input.ranks = RanksToShow(overview.value(), most);
    input.overview = std::make_shared<const JobOverview>(std::move(overview).value());
  } else if (overview.error().code == ErrorCode::kUnsupported) {
    input.no_overview_reason = overview.error().message;
  } else {
    return NameJob(job, overview.error());
  }
  // Ranks that were chosen here are as many as the memory has room for.
  const uint64_t max_memory = input.overview != nullptr && ranks.empty() ? 0 : common.max_memory;
  OPSCOPE_ASSIGN(input.trace,
                 OpenJobAsOne(job, {.attempt = common.attempt, .ranks = input.ranks, .max_memory = max_memory}));
  return input;
}

Error NameJob(const std::string& job, const Error& error) {
  return {error.code, error.message.starts_with(job) ? error.message : job + ": " + error.message};
}

int ExitForProblems(const std::vector<JobProblem>& problems) {
  const bool is_partial = std::any_of(problems.begin(), problems.end(), [](const JobProblem& problem) {
    return problem.severity != ProblemSeverity::kInfo;
  });
  return is_partial ? kExitPartial : kExitDone;
}

void ReportJobProblems(const std::vector<JobProblem>& problems, const CommonOptions& common) {
  const bool all = common.verbose;
  constexpr size_t kMaxLines = 10, kMaxRanks = 20;  // of a kind; of a line
  std::map<std::string_view, size_t> lines;         // by kind
  for (const JobProblem& problem : problems) {
    // Something to do, not a property of the job.
    const bool is_hint = problem.kind == "many_parts" || (problem.kind == "several_attempts" && !common.attempt);
    if (problem.severity == ProblemSeverity::kInfo && !all && !is_hint) continue;
    if (++lines[problem.kind] > kMaxLines && !all) continue;
    std::string line = problem.file.empty() ? problem.message : problem.file + ": " + problem.message;
    const bool has_ranks = !problem.ranks.empty() && problem.ranks.front() >= 0;  // -1 would say nothing
    for (size_t i = 0; has_ranks && i < std::min(problem.ranks.size(), kMaxRanks); ++i)
      line.append(i == 0 ? " (rank " : ", ").append(std::to_string(problem.ranks[i]));
    if (problem.ranks.size() > kMaxRanks) line.append(", ...");
    PrintError(line + (has_ranks ? ")" : ""));
  }
  for (const auto& [kind, count] : lines) {
    if (count > kMaxLines && !all)
      PrintError(std::to_string(count - kMaxLines) + " more problems " + std::string(kind) + "; -v lists them");
  }
}

int ReportJobCondition(const std::string& job, const std::vector<JobProblem>& problems, const Quality& quality,
                       const CommonOptions& common) {
  if (!common.quiet) ReportJobProblems(problems, common);
  if (!common.quiet && !common.json)
    if (const std::string line = FormatQuality(quality); !line.empty()) PrintError(job + ": " + line);
  return ExitForProblems(problems);
}

int ReportJobInput(const JobInput& input, const std::string& job, const CommonOptions& common) {
  if (!common.quiet && !input.no_overview_reason.empty())
    PrintError(job + ": no tab Ranks: " + input.no_overview_reason);
  if (input.overview == nullptr) return kExitDone;
  const std::vector<JobProblem>& problems = input.overview->problems;
  if (!common.quiet) {
    ReportJobProblems(problems, common);
    if (!input.ranks.empty() && input.ranks.size() < input.overview->rank_of_row.size()) {
      PrintError(job + ": the timeline has the spans of " + std::to_string(input.ranks.size()) + " of " +
                 std::to_string(input.overview->rank_of_row.size()) + " ranks; --ranks chooses them");
    }
  }
  return ExitForProblems(problems);
}

}  // namespace opscope

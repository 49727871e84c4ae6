// `opscope ranks`, `collectives`, `stragglers` and `critical-ranks`: one question to all ranks of a JOB.
// SPDX-License-Identifier: Apache-2.0
#include "cli/job_verbs.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_options.h"
#include "cli/terminal.h"
#include "opscope/report/job_report.h"
#include "opscope/report/quality.h"

namespace opscope {
namespace {

struct JobVerbOptions {
  CommonOptions common;
  ResultVerbOptions result;
  bool members = false;
  JobEngineOptions engine;
};

int RunJobVerb(const std::string& verb, const JobVerbOptions& options, const CliHost& host) {
  const Result<std::optional<int32_t>> attempt = ReadAttempt(options.common);
  if (!attempt.ok()) return UsageError(verb + ": " + attempt.error().message);
  if (const Status fits = CheckEngine(options.engine); !fits.ok())
    return UsageError(verb + ": " + fits.error().message);
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  return writer.End(AnswerOverJob(verb, options.common.files[0],
                                  {.attempt = attempt.value(), .with_members = options.members}, options.common,
                                  options.result, OpenEngine(options.common.files[0], options.engine, host), &writer));
}

}  // namespace

void AddEngineOptions(Verb* verb, JobEngineOptions* options) {
  verb->Add({.names = {"--engine"},
             .target = &options->engine,
             .description = "what answers over a folder of `opscope collect` (default duckdb)",
             .choices = {"duckdb", "spark"}});
  verb->Add({.names = {"--master"},
             .target = &options->master,
             .description = "where Spark is, such as local[8]; without it Spark's own settings say"});
}

Status CheckEngine(const JobEngineOptions& options) {
  if (options.master.empty() || options.is_spark()) return {};
  return Error{ErrorCode::kInvalidArgument, "--master goes with --engine spark"};
}

Result<std::unique_ptr<JobEngine>> OpenEngine(const std::string& job, const JobEngineOptions& options,
                                              const CliHost& host) {
  if (!options.is_spark()) return OpenDuckdbEngine(job, DuckdbModule(host));
  if (host.open_spark) return host.open_spark(job, options.master);
  return Error{ErrorCode::kUnsupported, "--engine spark needs Python: pip install 'opscope[spark]'"};
}

int AnswerOverJob(const std::string& verb, const std::string& job, const JobQuestion& question,
                  const CommonOptions& common, const ResultVerbOptions& result,
                  Result<std::unique_ptr<JobEngine>> engine, ResultWriter* writer) {
  const auto failed = [&](const Error& error) {
    const bool is_named = error.message.starts_with(job);
    return ExitFor(Error{error.code, is_named ? error.message : job + ": " + error.message});
  };
  if (!engine.ok()) return failed(engine.error());
  Result<JobAnswer> answer = AnswerJob(verb, engine.value().get(), question);
  if (!answer.ok()) return failed(answer.error());
  const std::vector<JobProblem>& problems = answer.value().problems;
  const bool is_partial = std::any_of(problems.begin(), problems.end(), [](const JobProblem& problem) {
    return problem.severity != ProblemSeverity::kInfo;
  });
  if (!common.quiet) ReportJobProblems(problems, common.verbose);
  if (!common.quiet && !common.json) {
    if (const std::string line = FormatQuality(answer.value().result.quality.value_or(Quality())); !line.empty())
      PrintError(job + ": " + line);
  }
  const int printed =
      PrintResult(verb, job, std::span<const ResultInput>(), common, result, std::move(answer.value().result), writer);
  return WorseExit(printed, is_partial ? kExitPartial : kExitDone);
}

Verb JobVerb(const std::string& name, const std::string& description, const CliHost& host) {
  auto options = std::make_shared<JobVerbOptions>();
  Verb verb{.names = {name}, .description = description};
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  std::erase_if(verb.options, [](const Option& option) {
    return option.names.back() == "--from" || option.names.back() == "--max-memory";
  });
  verb.options[0].names = {"JOB"};
  verb.options[0].description = "a folder of `opscope collect`";
  AddResultOptions(&verb, &options->common, &options->result, "a JSON field");
  std::erase_if(verb.options, [](const Option& option) { return option.names.back() == "--explain"; });
  if (name == "collectives")
    verb.Add({.names = {"--members"}, .target = &options->members, .description = "in JSON, the ranks of each"});
  AddEngineOptions(&verb, &options->engine);
  verb.run = [name, options, &host] { return RunJobVerb(name, *options, host); };
  return verb;
}

}  // namespace opscope

// `opscope ranks`, `collectives`, `stragglers` and `critical-ranks`: one question to all ranks of a JOB.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_options.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report/job_report.h"
#include "opscope/report/quality.h"

namespace opscope {
namespace {

struct JobVerbOptions {
  CommonOptions common;
  ResultVerbOptions result;
  bool members = false;
  std::string engine = "duckdb";
  std::string master;
};

Result<std::unique_ptr<JobEngine>> OpenEngine(const JobVerbOptions& options, const CliHost& host) {
  const std::string& job = options.common.files[0];
  if (options.engine == "duckdb") return OpenDuckdbEngine(job, DuckdbModule(host));
  if (host.open_spark) return host.open_spark(job, options.master);
  return Error{ErrorCode::kUnsupported, "--engine spark needs Python: pip install 'opscope[spark]'"};
}

int RunJobVerb(const std::string& verb, const JobVerbOptions& options, const CliHost& host) {
  const Result<std::optional<int32_t>> attempt = ReadAttempt(options.common);
  if (!attempt.ok()) return UsageError(verb + ": " + attempt.error().message);
  if (options.engine != "duckdb" && options.engine != "spark")
    return UsageError(verb + ": --engine is duckdb or spark, not " + options.engine);
  if (!options.master.empty() && options.engine != "spark")
    return UsageError(verb + ": --master goes with --engine spark");
  const std::string& job = options.common.files[0];
  const auto failed = [&](const Error& error) {
    const bool is_named = error.message.starts_with(job);
    return ExitFor(Error{error.code, is_named ? error.message : job + ": " + error.message});
  };
  const Result<std::unique_ptr<JobEngine>> engine = OpenEngine(options, host);
  if (!engine.ok()) return failed(engine.error());
  Result<JobAnswer> answer =
      AnswerJob(verb, engine.value().get(), {.attempt = attempt.value(), .with_members = options.members});
  if (!answer.ok()) return failed(answer.error());
  const std::vector<JobProblem>& problems = answer.value().problems;
  const bool is_partial = std::any_of(problems.begin(), problems.end(), [](const JobProblem& problem) {
    return problem.severity != ProblemSeverity::kInfo;
  });
  if (!options.common.quiet) ReportJobProblems(problems, options.common.verbose);
  if (!options.common.quiet && !options.common.json) {
    if (const std::string line = FormatQuality(*answer.value().result.quality); !line.empty())
      PrintError(job + ": " + line);
  }
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  const int printed = PrintResult(verb, job, std::span<const ResultInput>(), options.common, options.result,
                                  std::move(answer.value().result), &writer);
  return writer.End(WorseExit(printed, is_partial ? kExitPartial : kExitDone));
}

}  // namespace

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
  verb.Add({.names = {"--engine"}, .target = &options->engine, .description = "duckdb (default) or spark"});
  verb.Add({.names = {"--master"},
            .target = &options->master,
            .description = "where Spark is, such as local[8]; without it Spark's own settings say"});
  verb.run = [name, options, &host] { return RunJobVerb(name, *options, host); };
  return verb;
}

}  // namespace opscope

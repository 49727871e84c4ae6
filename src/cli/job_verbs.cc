// `opscope ranks`, `collectives`, `stragglers` and `critical-ranks`: one question to all ranks of a JOB. Verbs of a
// trace that take a JOB, too, are answered without a merge of its ranks where that is possible.
// SPDX-License-Identifier: Apache-2.0
#include "cli/job_verbs.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_options.h"
#include "opscope/report/job.h"
#include "opscope/report/job_report.h"

namespace opscope {
namespace {

struct JobVerbOptions {
  CommonOptions common;
  ResultVerbOptions result;
  bool members = false;
};

// kUnsupported: there is no DuckDB, or no Python for Spark.
Result<std::unique_ptr<JobEngine>> OpenEngine(const std::string& job, const JobEngineOptions& options,
                                              const CliHost& host) {
  if (!options.is_spark()) return OpenDuckdbEngine(job, DuckdbModule(host));
  if (host.open_spark) return host.open_spark(job, options.master);
  return Error{ErrorCode::kUnsupported, "--engine spark needs Python: pip install 'opscope[spark]'"};
}

Result<JobAnswer> Ask(const std::string& job, const JobEngineOptions& options, const CliHost& host, const AskJob& ask) {
  OPSCOPE_ASSIGN(const std::unique_ptr<JobEngine> engine, OpenEngine(job, options, host));
  return ask(engine.get());
}

int PrintJobAnswer(const std::string& job, const JobRequest& request, Result<JobAnswer> answer, ResultWriter* writer) {
  if (!answer.ok()) return ExitFor(NameJob(job, answer.error()));
  VerbResult& result = answer.value().result;
  const int code = ReportJobCondition(job, answer.value().problems, result.quality.value_or(Quality()), request.common);
  const int printed = PrintResult(request.verb, job, std::span<const ResultInput>(), request.common, request.result,
                                  std::move(result), writer);
  return WorseExit(printed, code);
}

int RunJobVerb(const std::string& verb, const JobVerbOptions& options, const CliHost& host) {
  const JobQuestion question{.attempt = options.common.attempt, .with_members = options.members};
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  const auto ask = [&](JobEngine* engine) { return AnswerJob(verb, engine, question); };
  return writer.End(AnswerOverJob(options.common.files[0], {verb, options.common, options.result}, host, ask, &writer));
}

JobRequest RequestOf(const ResultVerb& verb) {
  return {verb.name, verb.common, verb.options, verb.span_use ? std::optional(verb.span_use()) : std::nullopt};
}

}  // namespace

std::optional<int> AskRanksOfJobs(std::span<const std::string> jobs, const CommonOptions& common,
                                  const QuestionToJobs& question, const CliHost& host) {
  std::vector<JobCondition> conditions;
  for (size_t number = 0; number < jobs.size(); ++number) {
    const std::string& job = jobs[number];
    const Result<std::unique_ptr<JobEngine>> engine = OpenEngine(job, common.engine, host);
    TerminalProgress progress(InputName(job));
    RankByRank ranks;
    ranks.add = [&](const Trace& trace, int32_t rank) { question.add(number, trace, rank); };
    ranks.needs_steps = question.needs_steps;
    ranks.max_memory = common.max_memory;
    if (!common.quiet) ranks.on_progress = [&](size_t done, size_t total) { progress.Show(done, total); };
    Result<JobCondition> condition = engine.ok() ? ReadRankByRank(job, engine.value().get(), common.attempt, ranks)
                                                 : Result<JobCondition>(engine.error());
    if (!condition.ok() && condition.error().code == ErrorCode::kUnsupported) return std::nullopt;
    if (!condition.ok()) return ExitFor(NameJob(job, condition.error()));
    if (question.end_job) question.end_job(number, condition.value());
    conditions.push_back(std::move(condition).value());
  }
  return UseInput(jobs.back(), [&] {
    int code = kExitDone;
    JobCondition all;
    for (size_t number = 0; number < jobs.size(); ++number) {
      const JobCondition& each = conditions[number];
      code = WorseExit(code, ReportJobCondition(jobs[number], each.problems, each.quality, common));
      all.Append(jobs.size() > 1 ? InputName(jobs[number]) : "", each);
    }
    return WorseExit(question.finish(all), code);
  });
}

int PrintAnswerOfJobs(std::span<const std::string> jobs, const JobRequest& request, VerbResult result,
                      const JobCondition& condition, ResultWriter* writer) {
  if (result.basis && !request.common.json) {
    for (size_t number = 0; number < jobs.size(); ++number)
      ReportBasis(InputName(jobs[number]), *result.basis, number);
    if (condition.problems.empty()) PrintError(JobName(request.common) + ": Problems: none");
  }
  return PrintResult(request.verb, JobName(request.common), std::span<const ResultInput>(), request.common,
                     request.result, CompleteAnswer(std::move(result), condition).result, writer);
}

int AnswerOverJob(const std::string& job, const JobRequest& request, const CliHost& host, const AskJob& ask,
                  ResultWriter* writer) {
  return PrintJobAnswer(job, request, Ask(job, request.common.engine, host, ask), writer);
}

std::optional<int> AnswerOneRankAtATime(const std::string& job, const JobRequest& request,
                                        const std::optional<SpanFilter>& filter, const RankByRank& question,
                                        const CliHost& host, ResultWriter* writer) {
  if (filter && !CanSelectByRank(*filter)) return std::nullopt;
  EmptySelection selection(filter);
  BasisOfInputs basis(request.result, filter, request.use);
  QuestionToJobs to_one;
  to_one.needs_steps = question.needs_steps;
  to_one.add = [&](size_t, const Trace& trace, int32_t rank) {
    selection.Add(trace);
    basis.Add(0, trace);
    question.add(trace, rank);
  };
  to_one.finish = [&](const JobCondition& condition) {
    VerbResult result = question.finish(condition.quality.verdict);
    if (const std::string nothing = selection.Text(); !nothing.empty()) result.why_empty = nothing;
    result.basis = basis.Table();
    return PrintAnswerOfJobs(std::span(&job, 1), request, std::move(result), condition, writer);
  };
  return AskRanksOfJobs(std::span(&job, 1), request.common, to_one, host);
}

JobAnswerer AnswerFromTables(const CliHost& host) {
  return [&host](const std::string& job, const ResultVerb& verb, ResultWriter* writer) -> std::optional<int> {
    const JobEngineOptions& options = verb.common.engine;
    if (verb.filter || verb.options.explain) {
      if (!options.is_spark()) return std::nullopt;
      return UsageError(verb.name + ": --engine spark: not with --where, --steps, --time and --explain");
    }
    Result<JobAnswer> answer = Ask(job, options, host, [&](JobEngine* engine) {
      return AnswerJob(verb.name, engine, {.attempt = verb.common.attempt});
    });
    if (!answer.ok() && answer.error().code == ErrorCode::kUnsupported && !options.is_spark()) return std::nullopt;
    return PrintJobAnswer(job, RequestOf(verb), std::move(answer), writer);
  };
}

JobAnswerer AnswerByRanks(RankByRank (*question)(std::optional<SpanFilter> filter, ComputeRank of_rank),
                          const CliHost& host) {
  return [question, &host](const std::string& job, const ResultVerb& verb, ResultWriter* writer) {
    ResultVerb one = verb;
    one.is_one_rank = true;
    const auto of_rank = [&one](const Trace& trace) { return one.compute(std::span(&trace, 1), one); };
    return AnswerOneRankAtATime(job, RequestOf(verb), verb.filter, question(verb.filter, of_rank), host, writer);
  };
}

JobAnswerer AnswerByRanks(RankByRank (*question)(std::optional<SpanFilter> filter), const CliHost& host) {
  return [question, &host](const std::string& job, const ResultVerb& verb, ResultWriter* writer) {
    return AnswerOneRankAtATime(job, RequestOf(verb), verb.filter, question(verb.filter), host, writer);
  };
}

Verb JobVerb(const std::string& name, const std::string& description, const CliHost& host) {
  auto options = std::make_shared<JobVerbOptions>();
  Verb verb{.names = {name}, .description = description};
  options->common.engine.why_no_spark = [](const CommonOptions&) { return std::string(); };
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  std::erase_if(verb.options, [](const Option& option) {
    return option.names.back() == "--from" || option.names.back() == "--max-memory";
  });
  verb.options[0].names = {"JOB"};
  verb.options[0].description = "a folder of `opscope collect`";
  AddResultOptions(&verb, &options->common, &options->result, "a JSON field");
  std::erase_if(verb.options, [](const Option& option) { return option.names.back() == "--explain"; });
  if (name == "collectives") verb.Add({"--members"}, &options->members, "in JSON, the ranks of each");
  verb.run = [name, options, &host] { return RunJobVerb(name, *options, host); };
  return verb;
}

}  // namespace opscope

// `opscope collect FILE|DIR... -o JOB` and `opscope compact JOB`: the traces of many ranks as one folder.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>

#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/result_options.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/job.h"
#include "opscope/report/job.h"

namespace opscope {
namespace {

struct CollectVerbOptions {
  CommonOptions common;
  ResultVerbOptions result;
  std::string job;
  int64_t bucket_ranks = CollectOptions().bucket_ranks;
};

int RunCollect(const CollectVerbOptions& options, const CliHost& host) {
  CollectOptions collect;
  collect.job = options.job;
  collect.attempt = options.common.attempt;
  collect.bucket_ranks = static_cast<uint32_t>(options.bucket_ranks);
  collect.max_memory = options.common.max_memory;
  collect.format = options.common.from;
  collect.python_module = DuckdbModule(host);
  TerminalProgress progress(options.job);
  if (!options.common.quiet) collect.on_progress = [&](size_t done, size_t total) { progress.Show(done, total); };
  const Result<CollectReport> collected = CollectFiles(options.common.files, collect);
  if (!collected.ok()) return ExitFor(Error{collected.error().code, "collect: " + collected.error().message});
  const CollectReport& report = collected.value();
  for (const JobProblem& problem : report.problems) {
    const bool is_loss = problem.severity != ProblemSeverity::kInfo;
    if (options.common.quiet || (!is_loss && !options.common.verbose)) continue;
    PrintError(problem.message.starts_with(problem.file) ? problem.message : problem.file + ": " + problem.message);
  }
  ResultWriter writer(options.common, ResultWriter::Of::kTogether);
  const int printed = PrintResult("collect", options.job, std::span<const ResultInput>(), options.common,
                                  options.result, CollectVerbResult(report, options.job), &writer);
  const bool is_any_read = std::any_of(report.files.begin(), report.files.end(), [](const CollectedFile& file) {
    return file.status != CollectStatus::kRefused;
  });
  if (!is_any_read) return writer.End(kExitFailed);
  return writer.End(WorseExit(printed, ExitForProblems(report.problems)));
}

int RunCompact(const CommonOptions& options, const CliHost& host) {
  const std::string& job = options.files[0];
  const Result<CompactReport> compacted = CompactJob(job, DuckdbModule(host));
  if (!compacted.ok()) return ExitFor(Error{compacted.error().code, "compact: " + compacted.error().message});
  if (options.json) return ExitFor(WriteStandardOutput(CompactJson(compacted.value())));
  if (options.quiet) return kExitDone;
  return ExitFor(WriteStandardOutput(std::to_string(compacted.value().parts_before) + " parts before, " +
                                     std::to_string(compacted.value().parts_after) + " after\n"));
}

}  // namespace

Verb CollectVerb(const CliHost& host) {
  auto options = std::make_shared<CollectVerbOptions>();
  Verb verb{.names = {"collect"}, .description = "the traces of many ranks as one folder, which other commands read"};
  AddCommonOptions(&verb, &options->common);
  for (Option& option : verb.options) {
    if (option.is_operand()) option.description = "traces, or folders of *.json, *.json.gz and *.opscope";
    if (option.names.back() == "--attempt")
      option.description = "which start of the job they are of (default: what each file says, else 0)";
  }
  AddResultOptions(&verb, &options->common, &options->result, "a JSON field such as rank or spans");
  std::erase_if(verb.options, [](const Option& option) {
    const std::string& name = option.names.back();
    return name == "--explain" || name == "--engine" || name == "--master";
  });
  verb.Add({.names = {"-o", "--output"},
            .target = &options->job,
            .description = "the folder; it is made, or gets more files",
            .is_required = true});
  verb.Add({.names = {"--bucket-ranks"},
            .target = &options->bucket_ranks,
            .description = "ranks whose spans lie in one folder of a new JOB",
            .least = 1,
            .most = 1'000'000});
  verb.run = [options, &host] { return RunCollect(*options, host); };
  return verb;
}

Verb CompactVerb(const CliHost& host) {
  auto options = std::make_shared<CommonOptions>();
  Verb verb{.names = {"compact"}, .description = "joins the small files of a folder of `opscope collect`"};
  verb.Add({.names = {"JOB"},
            .target = &options->files,
            .description = "the folder",
            .is_required = true,
            .is_single = true});
  verb.Add({"--json"}, &options->json, "JSON on standard output");
  verb.Add({"-q", "--quiet"}, &options->quiet, "no text but errors");
  verb.run = [options, &host] { return RunCompact(*options, host); };
  return verb;
}

}  // namespace opscope

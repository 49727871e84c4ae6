// What all verbs share: common options, opening inputs with progress and problems, and exit codes. An input that fails
// does not stop the others; the worst code wins.
// SPDX-License-Identifier: Apache-2.0
#include "cli/verb.h"

#include <unistd.h>

#include <map>
#include <string_view>

#include "base/assign.h"
#include "base/catch_bad_alloc.h"
#include "base/parse_whole.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "opscope/cli.h"
#include "opscope/import.h"
#include "opscope/job.h"
#include "opscope/merge.h"
#include "opscope/report/quality.h"

namespace opscope {

const char* const kVersionText = "opscope " OPSCOPE_VERSION;

std::string InputName(const std::string& file) {
  return file == "-" ? "standard input" : file;
}

Result<int32_t> ReadCount(const std::string& option, const std::string& text) {
  const std::optional<int32_t> number = ParseWhole<int32_t>(text);
  if (number && *number >= 0) return *number;
  return Error{ErrorCode::kInvalidArgument, option + ": '" + text + "' is not a whole number of 0 or more"};
}

std::string DuckdbModule(const CliHost& host) {
  return host.find_duckdb ? host.find_duckdb() : "";
}

void ReportAttempts(const std::string& job, const CommonOptions& common) {
  if (common.attempt || common.quiet) return;
  if (const std::string attempts = DescribeAttempts(job); !attempts.empty()) PrintError(attempts);
}

Result<Trace> OpenInput(const std::string& file, const CommonOptions& common) {
  if (IsJob(file)) {
    ReportAttempts(file, common);
    return OpenJobAsOne(file, {.attempt = common.attempt, .ranks = {}, .max_memory = common.max_memory}, common.clocks);
  }
  ImportOptions options;
  options.max_memory = common.max_memory;
  options.format = common.from;
  TerminalProgress progress(InputName(file));
  if (!common.quiet) options.on_progress = [&](uint64_t read, uint64_t total) { progress.Show(read, total); };
  options.name = InputName(file);
  return file == "-" ? ImportDescriptor(STDIN_FILENO, options) : ImportFile(file, options);
}

void ListProblems(const Trace& trace, const std::string& name, const CommonOptions& options, bool all,
                  const ProblemKinds& said) {
  constexpr size_t kMaxLines = 10;  // of a kind: a merge of 1,000 ranks may have 1,000 of one
  std::map<std::string_view, size_t> lines;
  const ProblemColumns& problems = trace.problems();
  for (size_t i = 0; i < problems.size(); ++i) {
    const std::string_view kind = trace.text(problems.kind[i]);
    if (said.contains(kind)) continue;
    if (kind == "several_attempts" && !options.attempt) continue;  // ReportAttempts has said it
    const bool is_said = problems.severity[i] != ProblemSeverity::kInfo || kind == "many_parts";
    if (!is_said && !all && !options.verbose) continue;
    if (++lines[kind] > kMaxLines && !options.verbose) continue;
    std::string line = name + ": ";
    if (problems.first_offset[i] >= 0) line += "at byte " + std::to_string(problems.first_offset[i]) + ": ";
    line += trace.text(problems.message[i]);
    if (problems.count[i] > 1 && kind != "many_parts") line += " (" + std::to_string(problems.count[i]) + " times)";
    PrintError(line);
  }
  for (const auto& [kind, count] : lines) {
    if (count <= kMaxLines || options.verbose) continue;
    std::string line = name + ": ";
    line.append(std::to_string(count - kMaxLines)).append(" more problems ").append(kind).append("; -v lists them");
    PrintError(line);
  }
}

void ReportQuality(const Trace& trace, const std::string& name) {
  if (const std::string line = FormatQuality(JudgeQuality(trace)); !line.empty()) PrintError(name + ": " + line);
}

namespace {

// opscope answers from the engine that the user names, or not at all.
Status CheckEngine(const CommonOptions& common) {
  const JobEngineOptions& engine = common.engine;
  const auto wrong = [](const std::string& what) { return Error{ErrorCode::kInvalidArgument, what}; };
  if (!engine.is_spark() && !engine.master.empty()) return wrong("--master goes with --engine spark");
  if (!engine.is_spark()) return {};
  const std::string why = engine.why_no_spark
                              ? engine.why_no_spark(common)
                              : "the spans of the ranks are read on this machine; `opscope merge JOB --ranks` makes a "
                                "smaller input";
  return why.empty() ? Status() : wrong("--engine spark: " + why);
}

}  // namespace

std::string WhyNotOneJob(const CommonOptions& common) {
  if (common.files.size() > 1) return "it takes one folder of `opscope collect`";
  return IsJob(common.files[0]) ? "" : InputName(common.files[0]) + " is not a folder of `opscope collect`";
}

void AddCommonOptions(Verb* verb, CommonOptions* options, InputFiles files) {
  verb->Add({.names = {"FILE"},
             .target = &options->files,
             .description = "traces, or folders of `opscope collect`; - is standard input",
             .is_required = files != InputFiles::kOptional,
             .is_single = files == InputFiles::kOne});
  verb->Add({"-q", "--quiet"}, &options->quiet, "no messages but errors");
  verb->Add({"-v", "--verbose"}, &options->verbose, "list every problem of the input, harmless ones too");
  verb->Add({"--no-color"}, &options->no_color, "plain text on a terminal too (also NO_COLOR=1)");
  verb->Add({"--max-memory"}, &options->max_memory, "keep what fits into this many bytes (suffixes K, M, G)");
  verb->Add({.names = {"--attempt"},
             .target = &options->attempt,
             .description = "of a folder of `opscope collect`: which start of the job (default: the last)",
             .least = 0});
  verb->Add({.names = {"--from"},
             .target = &options->from,
             .description = "the format of the input, instead of what its content looks like",
             .choices = {ImportFormatNames().begin(), ImportFormatNames().end()}});
  verb->Add({.names = {"--engine"},
             .target = &options->engine.engine,
             .description = "what answers over a folder of `opscope collect`",
             .choices = {"duckdb", "spark"}});
  verb->Add({"--master"}, &options->engine.master,
            "where Spark is, such as local[8]; without it Spark's own settings say");
  verb->check = [options] { return CheckEngine(*options); };
}

void AddFormOptions(Verb* verb, CommonOptions* options) {
  verb->Add({"--json"}, &options->json, "JSON on standard output");
  verb->Add(
      {.names = {"--csv"}, .target = &options->csv, .description = "CSV on standard output", .excludes = "--json"});
}

Result<std::vector<Trace>> OpenInputs(const CommonOptions& common) {
  std::vector<Trace> traces;
  for (const std::string& file : common.files) {
    OPSCOPE_ASSIGN(Trace trace, OpenInput(file, common));
    traces.push_back(std::move(trace));
  }
  return traces;
}

Result<Trace> OpenJob(const CommonOptions& common) {
  if (common.files.size() == 1) return OpenInput(common.files[0], common);
  OPSCOPE_ASSIGN(std::vector<Trace> traces, OpenInputs(common));
  std::vector<MergeInput> inputs;
  for (size_t i = 0; i < common.files.size(); ++i)
    inputs.push_back({std::move(traces[i]), InputName(common.files[i]), -1});
  OPSCOPE_ASSIGN(Merged merged, MergeTraces(std::move(inputs), {}));
  return std::move(merged.trace);
}

std::string JobName(const CommonOptions& common) {
  std::string names;
  for (const std::string& file : common.files)
    names.append(names.empty() ? "" : ", ").append(InputName(file));
  return names;
}

int ReportInput(const Trace& trace, const std::string& file, const CommonOptions& options, const ProblemKinds& said) {
  if (!options.quiet) ListProblems(trace, InputName(file), options, false, said);
  if (!options.quiet && !options.json) ReportQuality(trace, InputName(file));
  return trace.is_partial() ? kExitPartial : kExitDone;
}

int UseInput(const std::string& file, const std::function<int()>& use) {
  try {
    return use();
  } catch (const std::bad_alloc& refused) {
    PrintError(OutOfMemoryError(InputName(file), BadAllocText(refused)).message);
    return kExitFailed;
  }
}

int ForEachInput(const CommonOptions& options, const std::function<int(const Trace&, const std::string& file)>& use) {
  int exit_code = kExitDone;
  for (const std::string& file : options.files) {
    Result<Trace> trace = OpenInput(file, options);
    if (!trace.ok()) {
      exit_code = WorseExit(exit_code, ExitFor(trace.error()));
      continue;
    }
    exit_code = WorseExit(exit_code, UseInput(file, [&] {
                            const int used = use(trace.value(), file);
                            return WorseExit(used, ReportInput(trace.value(), file, options));
                          }));
    if (trace.value().is_partial()) exit_code = WorseExit(exit_code, kExitPartial);
  }
  return exit_code;
}

int ExitFor(const Status& status) {
  if (status.ok()) return kExitDone;
  PrintError(status.error().message);
  return kExitFailed;
}

int UsageError(const std::string& message) {
  PrintError(message);
  return kExitUsage;
}

}  // namespace opscope

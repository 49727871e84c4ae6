// `opscope merge`: joins the files of a job's ranks, or of several processes, into one trace, and reports how each
// input's clock was aligned.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "cli/exit_code.h"
#include "cli/job_input.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cut.h"
#include "opscope/job.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct MergeVerbOptions {
  CommonOptions common;
  OutputOptions output;
  MergeOptions merge;
  std::vector<std::string> ranks;
  std::optional<std::string> steps;
  double max_clock_difference_s = 5;
};

// Which traces of a JOB. Errors are wrong usage.
Result<JobSelection> ReadJobSelection(const MergeVerbOptions& options) {
  JobSelection selection;
  OPSCOPE_ASSIGN(selection.ranks, ReadRanks(options.ranks));
  selection.attempt = options.common.attempt;
  selection.max_memory = options.common.max_memory;
  for (const std::string& file : options.common.files) {
    if (options.ranks.empty() || IsJob(file)) continue;
    return Error{ErrorCode::kInvalidArgument,
                 "--ranks chooses from a folder of `opscope collect`; " + file + " is not such a folder"};
  }
  return selection;
}

// What is merged: the files, and of a JOB the chosen ranks; its problems go to `merge`.
Result<std::vector<MergeInput>> OpenMergeInputs(const MergeVerbOptions& options, const JobSelection& selection,
                                                MergeOptions* merge) {
  std::vector<MergeInput> inputs;
  for (const std::string& file : options.common.files) {
    if (!IsJob(file)) {
      OPSCOPE_ASSIGN(Trace trace, OpenInput(file, options.common));
      inputs.push_back({std::move(trace), InputName(file), -1});
      continue;
    }
    ReportAttempts(file, options.common);
    OPSCOPE_ASSIGN(JobTraces traces, OpenJobTraces(file, selection));
    std::vector<MergeInput>& opened = traces.inputs;
    std::move(opened.begin(), opened.end(), std::back_inserter(inputs));
    if (!merge->of_job) merge->of_job.emplace();
    std::vector<JobProblem>& problems = traces.problems;
    std::move(problems.begin(), problems.end(), std::back_inserter(*merge->of_job));
  }
  return inputs;
}

int RunMerge(const MergeVerbOptions& options) {
  const Result<std::optional<SpanFilter>> filter = ReadSelection({.where = {}, .steps = options.steps, .time = {}});
  if (!filter.ok()) return UsageError("merge: " + filter.error().message);
  if (const int refused = RefuseInputAsOutput("merge", options.output.path, options.common.files)) return refused;
  const Result<JobSelection> selection = ReadJobSelection(options);
  if (!selection.ok()) return UsageError("merge: " + selection.error().message);
  MergeOptions merge = options.merge;
  Result<std::vector<MergeInput>> inputs = OpenMergeInputs(options, selection.value(), &merge);
  if (!inputs.ok()) return ExitFor(inputs.error());
  merge.is_choice = !options.ranks.empty();
  merge.max_clock_difference_ns = static_cast<int64_t>(options.max_clock_difference_s * 1e9);
  Result<Merged> merged = MergeTraces(std::move(inputs).value(), merge);
  if (!merged.ok()) return ExitFor(merged.error());
  if (const std::optional<SpanFilter>& steps = filter.value(); steps) {
    const Trace& whole = merged.value().trace;
    const std::vector<uint8_t> chosen = steps->Select(whole);
    Result<Trace> cut = CutTrace(whole, chosen, steps->text());
    if (!cut.ok()) return ExitFor(cut.error());
    if (cut.value().spans().size() == 0)
      ReportNoResult(options.output.path, options.common, DescribeEmptySelection(whole, steps));
    merged.value().trace = std::move(cut).value();
  }
  OutputOptions output = options.output;
  output.quiet = options.common.quiet;
  if (const int written = WriteTrace(merged.value().trace, output); written != kExitDone) return written;
  const bool is_taken = options.output.path == "-";  // standard output holds the trace
  if (!is_taken) {
    const std::string text = options.common.json  ? MergeJson(merged.value(), JudgeQuality(merged.value().trace))
                             : options.common.csv ? MergeTable(merged.value()).Csv()
                                                  : FormatMerge(merged.value(), DetectTerminal(true).width);
    if (const int exit_code = ExitFor(WriteStandardOutput(text)); exit_code != kExitDone) return exit_code;
  }
  const std::string name = is_taken ? "standard output" : options.output.path;
  if (!options.common.quiet) {
    ListProblems(merged.value().trace, name, options.common, true);
    if (!options.common.json || is_taken) ReportQuality(merged.value().trace, name);
  }
  return merged.value().trace.is_partial() ? kExitPartial : kExitDone;
}

}  // namespace

Verb MergeVerb(const CliHost& host) {
  auto options = std::make_shared<MergeVerbOptions>();
  Verb verb{.names = {"merge"},
            .description = "several files as one: the ranks of a job, the processes of a machine",
            .run = [options] { return RunMerge(*options); }};
  AddCommonOptions(&verb, &options->common);
  AddFormOptions(&verb, &options->common);
  verb.results = ResultKeysText("merge");
  AddOutputOptions(&verb, &options->output);
  AddFormatOptions(&verb, &options->output, host, false);
  verb.Add({.names = {"--ranks"},
            .target = &options->ranks,
            .description = "of a folder of `opscope collect`: these ranks alone",
            .delimiter = ','});
  verb.Add({"--steps"}, &options->steps, "these steps alone: 3, 3..7, 3.., ..7");
  verb.Add({"--sync"}, &options->merge.sync_names, "spans that end at the same moment on all ranks, by name");
  verb.Add({.names = {"--max-clock-difference"},
            .target = &options->max_clock_difference_s,
            .description = "seconds that two machines' clocks may differ",
            .least = 0,
            .most = 1e9});
  return verb;
}

}  // namespace opscope

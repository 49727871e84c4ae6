// `opscope merge`: joins the files of a job's ranks, or of several processes, into one trace, and reports how each
// input's clock was aligned.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct MergeVerbOptions {
  CommonOptions common;
  OutputOptions output;
  MergeOptions merge;
  double max_clock_difference_s = 5;
};

int RunMerge(const MergeVerbOptions& options) {
  if (const int refused = RefuseInputAsOutput("merge", options.output.path, options.common.files)) return refused;
  Result<std::vector<Trace>> traces = OpenInputs(options.common);
  if (!traces.ok()) return ExitFor(traces.error());
  std::vector<MergeInput> inputs;
  for (size_t i = 0; i < options.common.files.size(); ++i)
    inputs.push_back({std::move(traces.value()[i]), InputName(options.common.files[i]), -1});
  MergeOptions merge = options.merge;
  merge.max_clock_difference_ns = static_cast<int64_t>(options.max_clock_difference_s * 1e9);
  Result<Merged> merged = MergeTraces(std::move(inputs), merge);
  if (!merged.ok()) return ExitFor(merged.error());
  OutputOptions output = options.output;
  output.quiet = options.common.quiet;
  if (const int written = WriteTrace(merged.value().trace, output); written != kExitDone) return written;
  const bool is_taken = options.output.path == "-";  // standard output holds the trace
  if (!is_taken) {
    const std::string text = options.common.json  ? MergeJson(merged.value(), JudgeQuality(merged.value().trace))
                             : options.common.csv ? MergeTable(merged.value()).Csv()
                                                  : FormatMerge(merged.value(), DetectTerminal(true).width);
    if (const int told = ExitFor(WriteStandardOutput(text)); told != kExitDone) return told;
  }
  const std::string name = is_taken ? "standard output" : options.output.path;
  if (!options.common.quiet) {
    ListProblems(merged.value().trace, name, true);
    if (!options.common.json || is_taken) ReportQuality(merged.value().trace, name);
  }
  return merged.value().trace.is_partial() ? kExitPartial : kExitDone;
}

}  // namespace

Verb MergeVerb(const DuckdbFinder& find_duckdb) {
  auto options = std::make_shared<MergeVerbOptions>();
  Verb verb{.names = {"merge"},
            .description = "several files as one: the ranks of a job, the processes of a machine",
            .run = [options] { return RunMerge(*options); }};
  AddCommonOptions(&verb, &options->common);
  AddFormOptions(&verb, &options->common);
  verb.results = ResultKeysText("merge");
  AddOutputOptions(&verb, &options->output);
  AddFormatOptions(&verb, &options->output, find_duckdb, false);
  verb.Add({.names = {"--sync"},
            .target = &options->merge.sync_names,
            .description = "spans that end at the same moment on all ranks, by name"});
  verb.Add({.names = {"--max-clock-difference"},
            .target = &options->max_clock_difference_s,
            .description = "seconds that two machines' clocks may differ",
            .least = 0,
            .most = 1e9});
  return verb;
}

}  // namespace opscope

// The options --json, --csv, --sort and --limit, and the form of a result that they choose.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_options.h"

#include <utility>

#include "cli/terminal.h"
#include "opscope/analysis/quality.h"

namespace opscope {

void AddResultOptions(Verb* verb, CommonOptions* common, ResultVerbOptions* options, const std::string& sort_help) {
  AddFormOptions(verb, common);
  verb->results = ResultKeysText(verb->names.front());
  verb->Add({.names = {"--sort"}, .target = &options->sort, .description = sort_help});
  verb->Add({.names = {"--limit"},
             .target = &options->limit,
             .description = "print this many rows (default: all)",
             .least = 1});
}

int PrintResult(const std::string& verb, const std::string& file, const Trace& trace, const CommonOptions& common,
                const ResultVerbOptions& options, VerbResult result, ResultWriter* writer) {
  if (!options.sort.empty()) {
    const Status sorted = result.tables[0].Sort(options.sort);
    if (!sorted.ok()) return UsageError(verb + ": --sort: " + sorted.error().message);
  }
  const RowOptions rows{.limit = static_cast<size_t>(options.limit), .width = writer->width()};
  ReportNoResult(file, common, result.why_empty);
  if (common.csv) return writer->Write(file, result.tables[0].Csv(rows.limit), true);
  if (!common.json) return writer->Write(file, ResultText(result, rows), true);
  if (!result.quality) result.quality = JudgeQuality(trace);
  return writer->Write(file, ResultJson(result, trace, rows), true);
}

void ReportNoResult(const std::string& file, const CommonOptions& common, const std::string& sentence) {
  if (!sentence.empty() && !common.quiet) PrintError(InputName(file) + ": " + sentence);
}

}  // namespace opscope

// `opscope info`: format, counts, options and problems of a file, or with --list-threads and --list-steps its threads
// and steps.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>

#include "cli/result_options.h"
#include "cli/result_writer.h"
#include "cli/selection.h"
#include "cli/verb.h"
#include "opscope/analysis/contents.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct InfoOptions {
  CommonOptions common;
  SelectionOptions selection;
  InfoLists lists;
};

std::string ListsOf(const Trace& trace, const InfoOptions& info, size_t width) {
  if (info.common.csv) return (info.lists.threads ? ThreadListTable(trace) : StepListTable(trace)).Csv();
  std::string text;
  if (info.lists.threads) text += ThreadListTable(trace).Text(0, width);
  if (!text.empty() && info.lists.steps) text += "\n";
  return info.lists.steps ? text + StepListTable(trace).Text(0, width) : text;
}

// One line per input, below the names of the columns.
std::string InfoCsv(const Trace& trace, const std::string& file, bool has_header) {
  const std::string text = InfoTable(trace, file).Csv();
  return has_header ? text : text.substr(text.find("\r\n") + 2);
}

// Why a list is empty, in a sentence. A filter that chooses no span has said so already.
std::string WhyNoList(const Trace& trace, const InfoOptions& info, bool is_filtered) {
  if (trace.spans().size() == 0) return is_filtered ? "" : DescribeEmptySelection(trace, std::nullopt);
  return info.lists.steps && StepRanges(trace).empty() ? kNoSteps : "";
}

int RunInfo(const InfoOptions& info) {
  const CommonOptions& options = info.common;
  const Result<std::optional<SpanFilter>> filter = ReadSelection(info.selection);
  if (!filter.ok()) return UsageError("info: " + filter.error().message);
  const bool is_list = info.lists.threads || info.lists.steps;
  if (options.csv && info.lists.threads && info.lists.steps)
    return UsageError("info: --csv: one of --list-threads and --list-steps at a time");
  bool is_first = true;
  ResultWriter writer(options);
  return writer.End(ForEachSelected(options, filter.value(), [&](const Trace& trace, const std::string& file) {
    if (is_list) ReportNoResult(file, options, WhyNoList(trace, info, filter.value().has_value()));
    if (is_list && !options.json) return writer.Write(file, ListsOf(trace, info, writer.width()), true);
    const std::string text = options.json  ? InfoJson(trace, JudgeQuality(trace), info.lists)
                             : options.csv ? InfoCsv(trace, file, is_first)
                                           : FormatInfo(trace);
    is_first = false;
    return writer.Write(file, text, false);
  }));
}

}  // namespace

Verb InfoVerb() {
  auto options = std::make_shared<InfoOptions>();
  Verb verb{.names = {"info"},
            .description = "format, counts, recording options and problems of a file",
            .run = [options] { return RunInfo(*options); }};
  AddCommonOptions(&verb, &options->common);
  AddFormOptions(&verb, &options->common);
  verb.results = ResultKeysText("info");
  verb.Add({"--list-threads"}, &options->lists.threads,
           "the threads and streams, as --where and --group-by call them, in place of the facts");
  verb.Add({"--list-steps"}, &options->lists.steps, "the steps, as --steps takes them, in place of the facts");
  AddSelectionOptions(&verb, &options->selection);
  return verb;
}

}  // namespace opscope

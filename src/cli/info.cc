// `opscope info`: what a file is and holds.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/exit_code.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct InfoOptions {
  CommonOptions common;
  SelectionOptions selection;
};

int RunInfo(const InfoOptions& info) {
  const CommonOptions& options = info.common;
  const Result<std::optional<SpanFilter>> filter = ReadSelection(info.selection);
  if (!filter.ok()) return UsageError("info: " + filter.error().message);
  bool is_first = true;
  return ForEachSelected(
      options, filter.value(),
      [&](const Trace& trace, const std::string& file) {
        const std::string text = options.json  ? InfoJson(trace)
                                 : options.csv ? InfoCsv(trace, file, is_first)
                                               : FormatInfo(trace);
        is_first = false;
        return ExitFor(WriteStandardOutput(text));
      },
      options.is_for_people());
}

}  // namespace

Verb AddInfoVerb(CLI::App* root) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* app = root->add_subcommand("info", "format, counts, recording options and problems of a file");
  AddCommonOptions(app, &options->common);
  AddFormOptions(app, &options->common);
  AddSelectionOptions(app, &options->selection);
  return {app, [options] { return RunInfo(*options); }};
}

}  // namespace opscope

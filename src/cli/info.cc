// `opscope info`: what a file is and holds.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/answers.h"
#include "cli/selection.h"
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
  Answers answers(options);
  return answers.End(ForEachSelected(options, filter.value(), [&](const Trace& trace, const std::string& file) {
    const std::string text = options.json  ? InfoJson(trace, JudgeQuality(trace))
                             : options.csv ? InfoCsv(trace, file, is_first)
                                           : FormatInfo(trace);
    is_first = false;
    return answers.Write(file, text, false);
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
  AddSelectionOptions(&verb, &options->selection);
  return verb;
}

}  // namespace opscope

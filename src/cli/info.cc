// `opscope info`: what a file is and holds.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report.h"

namespace opscope {
namespace {

int RunInfo(const CommonOptions& options) {
  bool is_first = true;
  return ForEachInput(
      options,
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
  auto options = std::make_shared<CommonOptions>();
  CLI::App* app = root->add_subcommand("info", "format, counts, recording options and problems of a file");
  AddCommonOptions(app, options.get());
  AddFormOptions(app, options.get());
  return {app, [options] { return RunInfo(*options); }};
}

}  // namespace opscope

// `opscope modules`: what each torch.nn.Module took.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/modules.h"

#include <memory>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report.h"

namespace opscope {
namespace {

int PrintModules(const Trace& trace, const CommonOptions& options) {
  const ModuleSummary summary = SummarizeModules(trace);
  if (options.json) return ExitFor(WriteStandardOutput(ModulesJson(trace, summary)));
  const std::string table = FormatModuleTable(summary);
  if (table.empty() && !options.quiet) {
    PrintError("there are no modules; they are recorded by with_modules=True and with_stack=True");
  }
  return ExitFor(WriteStandardOutput(table));
}

}  // namespace

Verb AddModulesVerb(CLI::App* root) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* app = root->add_subcommand("modules", "what each torch.nn.Module took, forward and backward");
  AddCommonOptions(app, options.get());
  app->get_option("FILE")->expected(1);
  AddJsonOption(app, options.get());
  return {app, [options] {
            return ForEachInput(*options,
                                [&](const Trace& trace, const std::string&) { return PrintModules(trace, *options); });
          }};
}

}  // namespace opscope

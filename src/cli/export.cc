// `opscope export` and `opscope convert`: one input in another format.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>

#include "cli/output.h"
#include "cli/selection.h"
#include "cli/verb.h"

namespace opscope {
namespace {

struct ExportVerbOptions {
  CommonOptions common;
  OutputOptions output;
  SelectionOptions selection;
};

int RunExport(const std::string& verb, ExportVerbOptions& options) {
  const Result<std::optional<SpanFilter>> filter = ReadSelection(options.selection);
  if (!filter.ok()) return UsageError(verb + ": " + filter.error().message);
  options.output.quiet = options.common.quiet;
  return ForEachSelected(options.common, filter.value(),
                         [&](const Trace& trace, const std::string&) { return WriteTrace(trace, options.output); });
}

std::shared_ptr<ExportVerbOptions> AddExportOptions(CLI::App* app) {
  auto options = std::make_shared<ExportVerbOptions>();
  AddCommonOptions(app, &options->common);
  app->get_option("FILE")->expected(1);
  AddOutputOptions(app, &options->output);
  AddSelectionOptions(app, &options->selection);
  return options;
}

}  // namespace

Verb AddExportVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("export", "the trace in another format");
  auto options = AddExportOptions(app);
  AddFormatOptions(app, &options->output)->required();
  return {app, [options] { return RunExport("export", *options); }};
}

Verb AddConvertVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("convert", "any input as .opscope");
  auto options = AddExportOptions(app);
  return {app, [options] { return RunExport("convert", *options); }};
}

}  // namespace opscope

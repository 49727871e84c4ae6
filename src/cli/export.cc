// `opscope export` and `opscope convert`: one input in another format.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

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

std::vector<std::string> ExportFormatTexts() {
  return {ExportFormatNames().begin(), ExportFormatNames().end()};
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
  app->add_option("--to", options->output.format,
                  "chrome (Kineto's JSON), perfetto (protobuf), speedscope, collapsed (stacks), pprof, csv (one table) "
                  "or opscope; .gz and .zst by the name of the output")
      ->check(CLI::IsMember(ExportFormatTexts()))
      ->required();
  app->add_option("--table", options->output.table, "csv: which table of the trace")->capture_default_str();
  app->add_flag("--merge-threads", options->output.merge_threads,
                "collapsed, pprof: what several threads did alike is one path");
  app->add_flag("--small", options->output.small, "as .gz: smaller, slower");
  return {app, [options] { return RunExport("export", *options); }};
}

Verb AddConvertVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("convert", "any input as .opscope");
  auto options = AddExportOptions(app);
  return {app, [options] { return RunExport("convert", *options); }};
}

}  // namespace opscope

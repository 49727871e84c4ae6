// `opscope export` and `opscope convert`: one input in another format.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export.h"

#include <memory>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {
namespace {

struct ExportOptions {
  CommonOptions common;
  std::string format;
  std::string output;
  bool small = false;
};

int WriteText(const Result<std::string>& text) {
  if (text.ok()) return ExitFor(WriteStandardOutput(text.value()));
  PrintError(text.error().message);
  return kExitFailed;
}

int Export(const Trace& trace, const ExportOptions& options) {
  const bool to_standard_output = options.output == "-";
  if (options.format == "opscope") {
    return to_standard_output ? WriteText(OpscopeBytes(trace)) : ExitFor(ExportOpscope(trace, options.output));
  }
  ChromeExportOptions chrome;
  chrome.small_gzip = options.small;
  if (!to_standard_output) return ExitFor(ExportChromeTrace(trace, options.output, chrome));
  chrome.compression_from_name = false;
  return WriteText(ChromeTraceText(trace, chrome));
}

int RunExport(const ExportOptions& options) {
  return ForEachInput(options.common, [&](const Trace& trace, const std::string&) { return Export(trace, options); });
}

std::shared_ptr<ExportOptions> AddOutputOptions(CLI::App* app) {
  auto options = std::make_shared<ExportOptions>();
  AddCommonOptions(app, &options->common);
  app->get_option("FILE")->expected(1);
  app->add_option("-o,--output", options->output, "the file to write; - is standard output")->required();
  return options;
}

}  // namespace

Verb AddExportVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("export", "the trace in another format");
  auto options = AddOutputOptions(app);
  app->add_option("--to", options->format, "chrome (Kineto's JSON; .gz and .zst by the name of the output) or opscope")
      ->check(CLI::IsMember({"chrome", "opscope"}))
      ->required();
  app->add_flag("--small", options->small, "chrome as .gz: smaller, slower");
  return {app, [options] { return RunExport(*options); }};
}

Verb AddConvertVerb(CLI::App* root) {
  CLI::App* app = root->add_subcommand("convert", "any input as .opscope");
  auto options = AddOutputOptions(app);
  options->format = "opscope";
  return {app, [options] { return RunExport(*options); }};
}

}  // namespace opscope

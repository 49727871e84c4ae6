// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"
#include "opscope/export.h"

namespace opscope {
namespace {

int WriteText(const Result<std::string>& text) {
  if (text.ok()) return ExitFor(WriteStandardOutput(text.value()));
  PrintError(text.error().message);
  return kExitFailed;
}

}  // namespace

void AddOutputOptions(CLI::App* app, OutputOptions* options) {
  app->add_option("-o,--output", options->path, "the file to write; - is standard output")->required();
}

int WriteTrace(const Trace& trace, const OutputOptions& options) {
  const bool to_standard_output = options.path == "-";
  if (options.format == "opscope") {
    return to_standard_output ? WriteText(OpscopeBytes(trace)) : ExitFor(ExportOpscope(trace, options.path));
  }
  ChromeExportOptions chrome;
  chrome.small_gzip = options.small;
  TerminalProgress progress(options.path);
  chrome.on_progress = [&](size_t written, size_t pieces) { progress.Show(written, pieces); };
  if (!to_standard_output) return ExitFor(ExportChromeTrace(trace, options.path, chrome));
  chrome.compression_from_name = false;
  return WriteText(ChromeTraceText(trace, chrome));
}

}  // namespace opscope

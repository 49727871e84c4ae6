// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"
#include "opscope/export.h"

namespace opscope {
void AddOutputOptions(CLI::App* app, OutputOptions* options) {
  app->add_option("-o,--output", options->path, "the file to write; - is standard output")->required();
}

CLI::Option* AddFormatOptions(CLI::App* app, OutputOptions* options) {
  const std::vector<std::string> formats(ExportFormatNames().begin(), ExportFormatNames().end());
  app->add_option("--table", options->table, "csv: which table of the trace")->capture_default_str();
  app->add_flag("--merge-threads", options->merge_threads,
                "collapsed, pprof: what several threads did alike is one path");
  app->add_flag("--small", options->small, "as .gz: smaller, slower");
  return app
      ->add_option(
          "--to", options->format,
          "chrome (Kineto's JSON), perfetto (protobuf), speedscope, collapsed (stacks), pprof, csv (one table) "
          "or opscope; .gz and .zst by the name of the output")
      ->check(CLI::IsMember(formats));
}

int WriteTrace(const Trace& trace, const OutputOptions& options) {
  const bool to_standard_output = options.path == "-";
  const ExportFormat format = *ExportFormatFromName(options.format);
  ExportOptions how;
  how.small_gzip = options.small;
  how.table = options.table;
  how.merge_threads = options.merge_threads;
  how.compression_from_name = !to_standard_output;
  TerminalProgress progress(options.path);
  how.on_progress = [&](size_t written, size_t pieces) { progress.Show(written, pieces); };
  const Result<Exported> exported =
      to_standard_output ? ExportToBytes(trace, format, how) : ExportTrace(trace, format, options.path, how);
  if (!exported.ok()) return ExitFor(exported.error());
  if (to_standard_output) {
    if (const int exit = ExitFor(WriteStandardOutput(exported.value().bytes)); exit != kExitDone) return exit;
  }
  const std::string told = ExportedText(format, exported.value());
  if (!told.empty() && !options.quiet) PrintError(options.path + ": " + told);
  return kExitDone;
}

}  // namespace opscope

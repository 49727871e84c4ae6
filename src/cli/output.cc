// Options and code that verbs share to write a trace: path, format, compression, progress, and the message about rows
// that the format cannot hold. Writing over an input is refused before anything is read.
// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/cli.h"
#include "opscope/export.h"
#include "opscope/job.h"
#include "opscope/sql.h"

namespace opscope {
namespace {

constexpr const char kParquet[] = "parquet";

int WriteParquet(const Trace& trace, const OutputOptions& options) {
  if (options.path == "-") return UsageError("parquet is a folder of files: -o DIR");
  const std::shared_ptr<const Trace> borrowed(std::shared_ptr<void>(), &trace);
  const std::string module = options.host != nullptr ? DuckdbModule(*options.host) : "";
  return ExitFor(ExportParquet(borrowed, options.path, {.python_module = module}));
}

// Whether an output is a JOB, one of its folders, or lies in one: every file there is a part of the JOB.
bool IsPartOfJob(const std::string& job, const std::string& output) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!IsJob(job)) return false;
  const fs::path inside = fs::weakly_canonical(output, failed).lexically_relative(fs::weakly_canonical(job, failed));
  return !inside.empty() && *inside.begin() != ".." && fs::is_directory(fs::path(job) / *inside.begin(), failed);
}

}  // namespace

void AddOutputOptions(Verb* verb, OutputOptions* options) {
  verb->Add({.names = {"-o", "--output"},
             .target = &options->path,
             .description = "the file to write; - is standard output",
             .is_required = true});
}

void AddFormatOptions(Verb* verb, OutputOptions* options, const CliHost& host, bool is_required) {
  options->host = &host;
  std::vector<std::string> formats = {ExportFormatNames().begin(), ExportFormatNames().end()};
  formats.emplace_back(kParquet);
  verb->Add({"--table"}, &options->table, "csv: which table of the trace");
  verb->Add({"--merge-threads"}, &options->merge_threads,
            "collapsed, pprof: what several threads did alike is one path");
  verb->Add({"--small"}, &options->small, "as .gz: smaller, slower");
  verb->Add({.names = {"--to"},
             .target = &options->format,
             .description =
                 "chrome (Kineto's JSON), perfetto (protobuf), speedscope, collapsed (stacks), pprof, csv "
                 "(one table), opscope, paddle-protobuf, paddle-chrome, megengine-chrome, megengine-svg, "
                 "html (as `report`, which has more options) or parquet (a folder of files, one per table and rank); "
                 ".gz and .zst by the name of the output",
             .choices = std::move(formats),
             .is_required = is_required});
}

int RefuseInputAsOutput(const std::string& verb, const std::string& output, const std::vector<std::string>& inputs) {
  if (output == "-") return kExitDone;
  const bool is_input = std::any_of(inputs.begin(), inputs.end(), [&output](const std::string& input) {
    std::error_code is_missing;  // then they are different files
    return std::filesystem::equivalent(input == "-" ? "/dev/stdin" : input, output, is_missing) &&
           std::filesystem::is_regular_file(output, is_missing);
  });
  const auto job =
      std::find_if(inputs.begin(), inputs.end(), [&](const std::string& input) { return IsPartOfJob(input, output); });
  if (job != inputs.end()) return UsageError(verb + ": " + output + " lies in the folders of the JOB " + *job);
  if (!is_input) return kExitDone;
  return UsageError(verb + ": " + output + " is " + (inputs.size() > 1 ? "one of the inputs" : "the input"));
}

int WriteTrace(const Trace& trace, const OutputOptions& options) {
  if (options.format == kParquet) return WriteParquet(trace, options);
  const bool to_standard_output = options.path == "-";
  // The command line lets no other name pass.
  const ExportFormat format = ExportFormatFromName(options.format).value_or(ExportFormat::kChrome);
  ExportOptions export_options;
  export_options.small_gzip = options.small;
  export_options.table = options.table;
  export_options.merge_threads = options.merge_threads;
  export_options.compression_from_name = !to_standard_output;
  if (format == ExportFormat::kHtml) export_options.trace_name = options.input;
  TerminalProgress progress(options.path);
  export_options.on_progress = [&](size_t written, size_t pieces) { progress.Show(written, pieces); };
  const Result<Exported> exported = to_standard_output ? ExportToBytes(trace, format, export_options)
                                                       : ExportTrace(trace, format, options.path, export_options);
  if (!exported.ok()) return ExitFor(exported.error());
  if (to_standard_output)
    if (const int exit = ExitFor(WriteStandardOutput(exported.value().bytes)); exit != kExitDone) return exit;
  const std::string message = ExportedText(format, exported.value());
  if (!message.empty() && !options.quiet) PrintError(options.path + ": " + message);
  return kExitDone;
}

}  // namespace opscope

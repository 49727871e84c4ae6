// `opscope export` and `opscope convert`: writes one input in another format, the whole or a selection of its spans.
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
  if (const int refused = RefuseInputAsOutput(verb, options.output.path, options.common.files)) return refused;
  options.output.quiet = options.common.quiet;
  return ForEachSelected(options.common, filter.value(), [&](const Trace& trace, const std::string& file) {
    options.output.input = InputName(file);
    return WriteTrace(trace, options.output);
  });
}

std::shared_ptr<ExportVerbOptions> AddExportOptions(Verb* verb) {
  auto options = std::make_shared<ExportVerbOptions>();
  options->common.clocks = JobClocks::kAligned;
  AddCommonOptions(verb, &options->common, InputFiles::kOne);
  AddOutputOptions(verb, &options->output);
  AddSelectionOptions(verb, &options->selection);
  verb->run = [options, name = verb->names.front()] { return RunExport(name, *options); };
  return options;
}

}  // namespace

Verb ExportVerb(const CliHost& host) {
  Verb verb{.names = {"export"}, .description = "the trace in another format"};
  const auto options = AddExportOptions(&verb);
  AddFormatOptions(&verb, &options->output, host, true);
  return verb;
}

Verb ConvertVerb() {
  Verb verb{.names = {"convert"}, .description = "any input as .opscope"};
  AddExportOptions(&verb);
  return verb;
}

}  // namespace opscope

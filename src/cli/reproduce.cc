// `opscope reproduce`: a Python script that runs one recorded operator alone and times it. Of several operators that
// the condition chooses, the script has the one that took most time, and a message says how many others there are.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/reproduce.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/export.h"
#include "opscope/report/reproduce.h"

namespace opscope {
namespace {

struct ReproduceOptions {
  CommonOptions common;
  OutputOptions output;
  SelectionOptions selection;
  std::optional<SpanFilter> filter;  // parsed from `selection`
};

int Reproduce(const Trace& trace, const std::string& file, const ReproduceOptions& options) {
  const auto fail = [&file](const std::string& sentence) {
    PrintError(InputName(file) + ": " + sentence);
    return kExitFailed;
  };
  if (const std::string nothing = DescribeEmptySelection(trace, options.filter); !nothing.empty()) return fail(nothing);
  const SelectedSpans selected(options.filter, trace);
  const Result<RecordedCall> call = ChooseCall(trace, selected.get());
  if (!call.ok()) return fail(call.error().message);
  const Result<std::string> script = ReproduceScript(trace, call.value(), InputName(file));
  if (!script.ok()) return fail(script.error().message);
  const std::string others = DescribeOtherCalls(trace, call.value());
  if (!others.empty() && !options.common.quiet) PrintError(InputName(file) + ": " + others);
  if (options.output.path == "-") return ExitFor(WriteStandardOutput(script.value()));
  return ExitFor(WriteText(options.output.path, script.value()));
}

int RunReproduce(ReproduceOptions* options) {
  Result<std::optional<SpanFilter>> filter = ReadSelection(options->selection);
  if (!filter.ok()) return UsageError("reproduce: " + filter.error().message);
  options->filter = std::move(filter).value();
  if (const int refused = RefuseInputAsOutput("reproduce", options->output.path, options->common.files)) return refused;
  return ForEachInput(options->common,
                      [&](const Trace& trace, const std::string& file) { return Reproduce(trace, file, *options); });
}

}  // namespace

Verb ReproduceVerb() {
  auto options = std::make_shared<ReproduceOptions>();
  Verb verb{.names = {"reproduce"},
            .description = "a Python script that runs one recorded operator again and times it",
            .run = [options] { return RunReproduce(options.get()); }};
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  AddOutputOptions(&verb, &options->output);
  AddSelectionOptions(&verb, &options->selection);
  return verb;
}

}  // namespace opscope

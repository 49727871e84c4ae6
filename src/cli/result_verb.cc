// Runs a ResultVerb: reads the selection, opens the inputs, calls the function of the verb and prints what it returns,
// once for each file or once for all.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_verb.h"

#include <memory>
#include <utility>

#include "cli/exit_code.h"

namespace opscope {
namespace {

int RunOnEach(const ResultVerb& verb, ResultWriter* writer) {
  return ForEachInput(verb.common, [&](const Trace& trace, const std::string& file) {
    VerbResult result = verb.compute(std::span(&trace, 1), verb);
    result.basis = BasisIfRequested(verb.options, trace, SelectedSpans(verb.filter, trace).get());
    return PrintResult(verb.name, file, trace, verb.common, verb.options, std::move(result), writer);
  });
}

// JSON lists the problems of the last input.
int RunTogether(const ResultVerb& verb, ResultWriter* writer) {
  const std::vector<std::string>& files = verb.common.files;
  if (files.size() != verb.inputs) {
    return UsageError(verb.name + ": takes " + std::to_string(verb.inputs) + " files; there are " +
                      std::to_string(files.size()));
  }
  const Result<std::vector<Trace>> traces = OpenInputs(verb.common);
  if (!traces.ok()) return ExitFor(traces.error());
  return UseInput(files.back(), [&] {
    int code = PrintResult(verb.name, files.back(), traces.value().back(), verb.common, verb.options,
                           verb.compute(traces.value(), verb), writer);
    for (size_t i = 0; i < files.size(); ++i)
      code = WorseExit(code, ReportInput(traces.value()[i], files[i], verb.common));
    return code;
  });
}

}  // namespace

Verb MakeResultVerb(ResultVerb given) {
  auto result_verb = std::make_shared<ResultVerb>(std::move(given));
  auto selection = std::make_shared<SelectionOptions>();
  Verb verb{.names = {result_verb->name}, .description = result_verb->description};
  AddCommonOptions(&verb, &result_verb->common);
  AddResultOptions(&verb, &result_verb->common, &result_verb->options, result_verb->sort_help);
  AddSelectionOptions(&verb, selection.get());
  for (const Option& option : result_verb->more_options)
    verb.Add(option);
  verb.run = [result_verb, selection] {
    Result<std::optional<SpanFilter>> filter = ReadSelection(*selection);
    if (!filter.ok()) return UsageError(result_verb->name + ": " + filter.error().message);
    result_verb->filter = std::move(filter).value();
    if (const Status checked = result_verb->check ? result_verb->check() : Status(); !checked.ok())
      return UsageError(result_verb->name + ": " + checked.error().message);
    const bool is_together = result_verb->inputs > 1;
    ResultWriter writer(result_verb->common, is_together ? ResultWriter::Of::kTogether : ResultWriter::Of::kEachInput);
    return writer.End(is_together ? RunTogether(*result_verb, &writer) : RunOnEach(*result_verb, &writer));
  };
  return verb;
}

}  // namespace opscope

// Runs a ResultVerb: reads the selection, opens the inputs, calls the function of the verb and prints what it returns,
// once for each file, once for the job that they are, or once for all.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_verb.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cli/exit_code.h"
#include "opscope/job.h"

namespace opscope {
namespace {

VerbResult Compute(const ResultVerb& verb, std::span<const Trace> traces) {
  VerbResult result = verb.compute(traces, verb);
  const std::optional<SpanUse> use = verb.span_use ? std::optional(verb.span_use()) : std::nullopt;
  result.basis = BasisIfRequested(verb.options, traces, verb.filter, use);
  return result;
}

int RunOnTraces(const ResultVerb& verb, ResultWriter* writer) {
  return ForEachInput(verb.common, [&](const Trace& trace, const std::string& file) {
    return PrintResult(verb.name, file, trace, verb.common, verb.options, Compute(verb, {&trace, 1}), writer);
  });
}

int RunOnEach(ResultVerb* verb, ResultWriter* writer) {
  int code = kExitDone;
  for (std::string& file : std::exchange(verb->common.files, {})) {
    verb->common.files = {std::move(file)};
    std::optional<int> done;
    if (verb->answer_job && IsJob(verb->common.files[0])) done = verb->answer_job(verb->common.files[0], *verb, writer);
    code = WorseExit(code, done ? *done : RunOnTraces(*verb, writer));
  }
  return code;
}

int RunOnJob(const ResultVerb& verb, ResultWriter* writer) {
  const Result<Trace> trace = OpenJob(verb.common);
  if (!trace.ok()) return ExitFor(trace.error());
  const std::string job = JobName(verb.common);
  return UseInput(verb.common.files[0], [&] {
    const std::vector<ResultInput> inputs = {{&trace.value(), job}};
    const int code =
        PrintResult(verb.name, job, inputs, verb.common, verb.options, Compute(verb, {&trace.value(), 1}), writer);
    return WorseExit(code, ReportInput(trace.value(), job, verb.common));
  });
}

// The files of the sets, and all files of the verb in common.files.
Status GatherInputs(ResultVerb* verb) {
  std::vector<std::string>& files = verb->common.files;
  const auto wrong = [&](const std::string& what) { return Error{ErrorCode::kInvalidArgument, what}; };
  const auto is_empty = [](const InputSet& set) { return set.files.empty(); };
  const size_t expected = verb->sets.empty() ? verb->inputs : verb->sets.size();
  if (std::all_of(verb->sets.begin(), verb->sets.end(), is_empty)) {
    if (files.size() != expected)
      return wrong("takes " + std::to_string(expected) + " files; there are " + std::to_string(files.size()));
    for (size_t i = 0; i < verb->sets.size(); ++i)
      verb->sets[i].files = {files[i]};
    return {};
  }
  if (!files.empty()) return wrong("takes files either behind " + verb->sets[0].option + " or without options");
  for (const InputSet& set : verb->sets) {
    if (is_empty(set)) return wrong("lacks " + set.option);
    files.insert(files.end(), set.files.begin(), set.files.end());
  }
  return {};
}

int RunTogether(const ResultVerb& verb, ResultWriter* writer) {
  const std::vector<std::string>& files = verb.common.files;
  if (verb.answer_jobs && std::all_of(files.begin(), files.end(), IsJob))
    if (const std::optional<int> done = verb.answer_jobs(verb, writer)) return *done;
  const Result<std::vector<Trace>> traces = OpenInputs(verb.common);
  if (!traces.ok()) return ExitFor(traces.error());
  std::vector<ResultInput> inputs;
  for (size_t i = 0; i < files.size(); ++i)
    inputs.push_back({&traces.value()[i], InputName(files[i])});
  return UseInput(files.back(), [&] {
    int code = PrintResult(verb.name, JobName(verb.common), inputs, verb.common, verb.options,
                           Compute(verb, traces.value()), writer);
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
  AddCommonOptions(&verb, &result_verb->common,
                   result_verb->sets.empty() ? InputFiles::kSeveral : InputFiles::kOptional);
  for (InputSet& set : result_verb->sets)
    verb.Add({.names = {set.option}, .target = &set.files, .description = set.description, .takes_files = true});
  AddResultOptions(&verb, &result_verb->common, &result_verb->options, result_verb->sort_help, result_verb->limit_help);
  AddSelectionOptions(&verb, selection.get());
  for (const Option& option : result_verb->more_options)
    verb.Add(option);
  verb.run = [result_verb, selection] {
    Result<std::optional<SpanFilter>> filter = ReadSelection(*selection);
    if (!filter.ok()) return UsageError(result_verb->name + ": " + filter.error().message);
    result_verb->filter = std::move(filter).value();
    if (const Status checked = result_verb->check ? result_verb->check() : Status(); !checked.ok())
      return UsageError(result_verb->name + ": " + checked.error().message);
    const bool is_together = result_verb->inputs > 1 || !result_verb->sets.empty();
    if (const Status gathered = is_together ? GatherInputs(result_verb.get()) : Status(); !gathered.ok())
      return UsageError(result_verb->name + ": " + gathered.error().message);
    const bool is_job = result_verb->is_of_job && result_verb->common.files.size() > 1;
    ResultWriter writer(result_verb->common,
                        is_together || is_job ? ResultWriter::Of::kTogether : ResultWriter::Of::kEachInput);
    if (is_job) return writer.End(RunOnJob(*result_verb, &writer));
    return writer.End(is_together ? RunTogether(*result_verb, &writer) : RunOnEach(result_verb.get(), &writer));
  };
  return verb;
}

}  // namespace opscope

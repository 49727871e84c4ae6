// The options --json, --csv, --sort and --limit, and the form of a result that they choose.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_options.h"

#include <utility>

#include "cli/selection.h"
#include "cli/terminal.h"
#include "opscope/analysis/basis.h"
#include "opscope/report/basis.h"
#include "opscope/report/info.h"
#include "opscope/report/result_inputs.h"

namespace opscope {

void AddResultOptions(Verb* verb, CommonOptions* common, ResultVerbOptions* options, const std::string& sort_help,
                      const std::string& limit_help) {
  AddFormOptions(verb, common);
  verb->results = ResultKeysText(verb->names.front());
  verb->Add({"--sort"}, &options->sort, sort_help);
  verb->Add({.names = {"--limit"}, .target = &options->limit, .description = limit_help, .least = 1});
  verb->Add({"--explain"}, &options->explain,
            "also what the answer rests on: spans that count, problems, clocks, overhead; on standard "
            "error, in JSON as \"explain\"");
}

void BasisOfInputs::Add(size_t input, const Trace& trace) {
  if (!is_wanted_) return;
  const AnswerBasis basis = MeasureBasis(trace, SelectedSpans(filter_, trace).get(), use_ ? &*use_ : nullptr);
  if (input < bases_.size()) {
    bases_[input].Append(basis);
  } else {
    bases_.push_back(basis);
  }
}

std::optional<ResultTable> BasisOfInputs::Table() const {
  return is_wanted_ ? std::optional(BasisTable(bases_)) : std::nullopt;
}

std::optional<ResultTable> BasisIfRequested(const ResultVerbOptions& options, std::span<const Trace> traces,
                                            const std::optional<SpanFilter>& filter,
                                            const std::optional<SpanUse>& use) {
  BasisOfInputs basis(options, filter, use);
  for (size_t input = 0; input < traces.size(); ++input)
    basis.Add(input, traces[input]);
  return basis.Table();
}

void ReportBasis(const std::string& input, const ResultTable& basis, size_t row) {
  for (const auto& [title, value] : basis.TextLines(row))
    PrintError(std::string(input).append(": ").append(title).append(": ").append(value));
}

namespace {

// Row i of `basis` is of input i.
void ReportBasisOfTraces(std::span<const ResultInput> inputs, const ResultTable& basis) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string begin = inputs[i].name + ": ";
    ReportBasis(inputs[i].name, basis, i);
    const std::string problems = FormatProblems(*inputs[i].trace);
    if (problems.empty()) PrintError(begin + "Problems: none");
    for (size_t at = 0; at < problems.size();) {
      const size_t end = problems.find('\n', at);
      PrintError(begin + "Problem: " + problems.substr(at, end - at));
      at = end + 1;
    }
  }
}

}  // namespace

int PrintResult(const std::string& verb, const std::string& file, const Trace& trace, const CommonOptions& common,
                const ResultVerbOptions& options, VerbResult result, ResultWriter* writer) {
  const ResultInput input{&trace, InputName(file)};
  return PrintResult(verb, file, std::span(&input, 1), common, options, std::move(result), writer);
}

int PrintResult(const std::string& verb, const std::string& file, std::span<const ResultInput> inputs,
                const CommonOptions& common, const ResultVerbOptions& options, VerbResult result,
                ResultWriter* writer) {
  if (!options.sort.empty()) {
    const Status sorted = result.tables[0].Sort(options.sort);
    if (!sorted.ok()) return UsageError(verb + ": --sort: " + sorted.error().message);
  }
  const RowOptions rows{.limit = static_cast<size_t>(options.limit), .width = writer->width()};
  ReportNoResult(file, common, result.why_empty);
  if (result.basis && !common.json) ReportBasisOfTraces(inputs, *result.basis);
  if (common.csv) return writer->Write(file, result.tables[0].Csv(rows.limit), true);
  if (!common.json) return writer->Write(file, ResultText(result, rows), true);
  if (!result.quality) result.quality = JudgeInputs(inputs);
  return writer->Write(file, ResultJson(result, inputs, rows), true);
}

void ReportNoResult(const std::string& file, const CommonOptions& common, const std::string& sentence) {
  if (!sentence.empty() && !common.quiet) PrintError(InputName(file) + ": " + sentence);
}

}  // namespace opscope

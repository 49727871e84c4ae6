// `opscope diff`: what became slower, faster, new or gone from one run to another, or from one set of runs to another.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/diff.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
#include "opscope/report/diff.h"

namespace opscope {
namespace {

// Compares the inputs of a verb, in their order, each of which is a run and may come in several traces.
class DiffOfInputs {
 public:
  DiffOfInputs(const ResultVerb& verb, const std::string& by)
      : runs_of_a_(verb.sets[0].files.size()),
        runs_({.by = DiffKeyFromName(by).value_or(DiffKey::kName), .filter = verb.filter ? &*verb.filter : nullptr},
              runs_of_a_ > 1 || verb.sets[1].files.size() > 1) {}

  void Add(size_t input, const Trace& trace) {
    const RunComparison::Side side = input < runs_of_a_ ? RunComparison::Side::kA : RunComparison::Side::kB;
    if (std::exchange(last_input_, input) != input) runs_.BeginRun(side);
    runs_.Add(side, trace);
  }

  VerbResult Finish() { return DiffVerbResult(std::move(runs_).Compare()); }

 private:
  const size_t runs_of_a_;
  RunComparison runs_;
  std::optional<size_t> last_input_;
};

VerbResult ComputeDiff(std::span<const Trace> traces, const ResultVerb& verb, const std::string& by) {
  DiffOfInputs diff(verb, by);
  for (size_t input = 0; input < traces.size(); ++input)
    diff.Add(input, traces[input]);
  return diff.Finish();
}

std::optional<int> DiffOfJobs(const ResultVerb& verb, const std::string& by, const CliHost& host,
                              ResultWriter* writer) {
  if (verb.filter && !CanSelectByRank(*verb.filter)) return std::nullopt;
  DiffOfInputs diff(verb, by);
  BasisOfInputs basis(verb.options, verb.filter, verb.span_use());
  QuestionToJobs question;
  question.add = [&](size_t input, const Trace& trace, int32_t) {
    diff.Add(input, trace);
    basis.Add(input, trace);
  };
  question.finish = [&](const JobCondition& condition) {
    VerbResult result = diff.Finish();
    result.basis = basis.Table();
    const JobRequest request = {verb.name, verb.common, verb.options};
    return PrintAnswerOfJobs(verb.common.files, request, std::move(result), condition, writer);
  };
  return AskRanksOfJobs(verb.common.files, verb.common, question, host);
}

}  // namespace

Verb DiffVerb(const CliHost& host) {
  auto by = std::make_shared<std::string>("name");
  return MakeResultVerb(
      {.name = "diff",
       .description = "what became slower or faster from one run to another, and whether that is more than chance",
       .sort_help = "a JSON field such as b_self_ns (default: the size of delta_ns)",
       .compute = [by](std::span<const Trace> traces,
                       const ResultVerb& verb) { return ComputeDiff(traces, verb, *by); },
       .sets = {{.option = "--a",
                 .description = "the runs to compare with, a file for each, instead of the first FILE"},
                {.option = "--b", .description = "the runs that are compared, instead of the second FILE"}},
       .more_options = {{.names = {"--by"},
                         .target = by.get(),
                         .description =
                             "what spans of both runs must have in common: the name; the name and the shapes "
                             "of inputs, the module, or the step; kernel: the name, works of devices only",
                         .choices = {DiffKeyNames().begin(), DiffKeyNames().end()}}},
       .span_use =
           [by] {
             const bool works_alone = *by == "kernel";
             return SpanUse{.host_spans = !works_alone, .works = true, .other_spans = !works_alone};
           },
       .answer_jobs = [by, &host](const ResultVerb& verb,
                                  ResultWriter* writer) { return DiffOfJobs(verb, *by, host, writer); }});
}

}  // namespace opscope

// `opscope steps`: how long each training step was, and what it consists of.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/steps.h"

#include <span>
#include <string>
#include <utility>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
#include "opscope/report/job_report.h"

namespace opscope {
namespace {

VerbResult ComputeSteps(std::span<const Trace> traces, const ResultVerb& verb) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const StepReport report = MeasureSteps(trace, selected.get());
  VerbResult result = StepsVerbResult(trace, report);
  if (!report.rows.empty()) return result;
  const std::string nothing = trace.steps().size() == 0 ? kNoSteps : DescribeEmptySelection(trace, verb.filter);
  if (!nothing.empty()) result.why_empty = nothing;
  return result;
}

}  // namespace

Verb StepsVerb(const CliHost& host) {
  ResultVerb verb{.name = "steps",
                  .description = "how long the training steps were, and what they consist of",
                  .sort_help = "a JSON field such as duration_ns or idle_ns (default: by rank and begin)",
                  .compute = &ComputeSteps,
                  .is_of_job = true,
                  .span_use =
                      [] {
                        return SpanUse{
                            .host_spans = true, .works = true, .step_spans = true, .place = SpanUsePlace::kInSteps};
                      },
                  .answer_job =
                      [of_all = AnswerFromTables(host), of_chosen = AnswerByRanks(&StepsByRank, host)](
                          const std::string& job, const ResultVerb& steps, ResultWriter* writer) {
                        const bool needs_spans = steps.filter || steps.options.explain;
                        const bool by_ranks = needs_spans && !steps.common.engine.is_spark();
                        return (by_ranks ? of_chosen : of_all)(job, steps, writer);
                      }};
  verb.common.engine.why_no_spark = &WhyNotOneJob;
  return MakeResultVerb(std::move(verb));
}

}  // namespace opscope

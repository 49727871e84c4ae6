// `opscope advise`: what slows the program down, how much its repair would save, and what to do.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/advise.h"

#include <span>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
#include "opscope/report/job_report.h"

namespace opscope {
namespace {

VerbResult ComputeAdvice(std::span<const Trace> traces, const ResultVerb& verb) {
  const SelectedSpans selected(verb.filter, traces[0]);
  VerbResult result = AdviseVerbResult(traces[0], Advise(traces[0], {.selected = selected.get()}));
  if (verb.filter && result.tables[0].size() == 0) result.why_empty = DescribeEmptySelection(traces[0], verb.filter);
  return result;
}

}  // namespace

Verb AdviseVerb(const CliHost& host) {
  return MakeResultVerb(
      {.name = "advise",
       .description = "what slows the program down, and what to do about it",
       .sort_help = "a JSON field such as count (default: largest saving first)",
       .compute = &ComputeAdvice,
       .is_of_job = true,
       .span_use =
           [] {
             return SpanUse{
                 .host_spans = true, .works = true, .step_spans = true, .place = SpanUsePlace::kInStepsIfAny};
           },
       .answer_job = AnswerByRanks(&AdviseByRank, host)});
}

}  // namespace opscope

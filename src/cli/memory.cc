// `opscope memory`: how much memory was allocated on each device, and which operators hold it at the peak, or with
// --by-step the level in each step. --json has all three lists.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/memory.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/report/missing_data.h"

namespace opscope {
namespace {

std::string WhyNoMemory(const Trace& trace, const ResultVerb& verb) {
  const std::string nothing = verb.is_one_rank ? "" : DescribeEmptySelection(trace, verb.filter);
  if (!nothing.empty()) return nothing;
  return HasMemoryEvents(trace) ? "nothing was allocated or freed while a chosen span was open" : kNoAllocations;
}

VerbResult ComputeMemory(std::span<const Trace> traces, const ResultVerb& verb, bool by_step) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const MemoryUsage usage = MeasureMemoryUsage(trace, selected.get());
  VerbResult result = MemoryVerbResult(trace, usage, verb.is_one_rank ? std::optional<int64_t>(0) : std::nullopt);
  if (usage.devices.empty()) result.why_empty = WhyNoMemory(trace, verb);
  if (!by_step) return result;
  std::swap(result.tables[0], result.tables[2]);  // --sort orders it
  result.shown = {0};
  if (!usage.devices.empty() && usage.steps.empty())
    result.why_empty = trace.steps().size() == 0 ? kNoSteps : "none of its steps is chosen";
  return result;
}

}  // namespace

Verb MemoryVerb(const CliHost& host) {
  auto by_step = std::make_shared<bool>(false);
  return MakeResultVerb(
      {.name = "memory",
       .description = "how much memory was allocated on each device, and which operators hold it at the peak",
       .sort_help = "a JSON field such as allocated_bytes (default: by device, most at the peak first)",
       .compute = [by_step](std::span<const Trace> traces,
                            const ResultVerb& verb) { return ComputeMemory(traces, verb, *by_step); },
       .is_of_job = true,
       .more_options = {{.names = {"--by-step"},
                         .target = by_step.get(),
                         .description = "the steps instead: how much was allocated at begin and end, and at most"}},
       .span_use =
           [] {
             return SpanUse{.host_spans = true, .step_spans = true};  // they name what allocated
           },
       .answer_job = AnswerByRanks(&MemoryByRank, host)});
}

}  // namespace opscope

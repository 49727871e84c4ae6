// Causes that show in host spans alone: waiting for input, compilation after the first step, calls of the driver's
// allocator after the first two. Compilations nest (`compile_inner` inside `_compile`), so their times are unions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "analysis/advise/causes.h"

namespace opscope::advise {
namespace {

void AddInput(const Job& job, const RankActivity& rank, Cause* cause) {
  std::map<TrackId, std::vector<NamedSpan>> by_track;
  for (const NamedSpan& input : rank.inputs)
    by_track[job.has_real_steps() ? job.trace.spans().track[input.span] : TrackId::kNone].push_back(input);
  std::map<TrackId, IntervalSet> waits;
  for (const auto& [track, inputs] : by_track)
    waits[track] = TimesOf(inputs).Minus(rank.all_works);
  for (size_t step = 0; step < rank.steps.size(); ++step) {
    const RankStep& of = rank.steps[step];
    const auto found = waits.find(of.track);
    if (found != waits.end())
      cause->AddSaving(rank.first_step + step, found->second.LengthIn(of.time.begin, of.time.end));
  }
  OutermostSpans outermost(job.trace);
  for (const NamedSpan& input : rank.inputs)
    if (rank.StepAt(input.time.begin) && outermost.Add(input)) cause->AddEvidence(job.trace, rank.rank, input);
}

// The time of the spans in the steps of the rank after the first `skipped`.
void AddLater(const Job& job, const RankActivity& rank, size_t skipped, const std::vector<NamedSpan>& spans,
              Cause* cause) {
  const IntervalSet times = TimesOf(spans);
  for (size_t step = skipped; step < rank.steps.size(); ++step)
    cause->AddSaving(rank.first_step + step, times.LengthIn(rank.steps[step].time.begin, rank.steps[step].time.end));
  OutermostSpans outermost(job.trace);
  for (const NamedSpan& span : spans) {
    const std::optional<size_t> step = rank.StepAt(span.time.begin);
    if (step && *step >= skipped && outermost.Add(span)) cause->AddEvidence(job.trace, rank.rank, span);
  }
}

}  // namespace

std::vector<Cause> FindHostCauses(const Job& job) {
  Cause input(FindingKind::kInputStarvation, Confidence::kHigh, job.steps);
  Cause recompiles(FindingKind::kRecompiles, Confidence::kHigh, job.steps);
  Cause allocations(FindingKind::kDeviceAllocations, Confidence::kHigh, job.steps);
  constexpr size_t kFirstStep = 1, kFirstTwo = 2;
  size_t considered = 0;
  for (const RankActivity& rank : job.ranks) {
    AddInput(job, rank, &input);
    if (job.has_real_steps()) {
      AddLater(job, rank, kFirstStep, rank.recompiles, &recompiles);
      AddLater(job, rank, kFirstTwo, rank.device_allocations, &allocations);
      considered += rank.steps.size() - std::min(rank.steps.size(), kFirstTwo);
    }
  }
  recompiles.NeedOneStep();
  allocations.ConsiderSteps(considered);
  return {input, recompiles, allocations};
}

}  // namespace opscope::advise

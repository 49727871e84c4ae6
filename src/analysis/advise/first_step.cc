// A first step that takes much longer than the others, because something is prepared in it: a compiler runs, data is
// read, a worker starts. It costs once, so its time is divided by the number of steps, and a long recording does not
// have the finding:
//
//   steps   600 ms | 10 ms | 10 ms | 12 ms | 10 ms      excess 590 ms, 118 ms per step
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analysis/advise/causes.h"
#include "analysis/host_spans.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope::advise {
namespace {

constexpr size_t kFewestSteps = 4;
constexpr int64_t kLastFirstNumber = 1;  // some programs count from 1; a later one is not the program's first step
constexpr int64_t kMinExcessNs = 100'000'000;  // what costs once matters from there on
constexpr int64_t kTimesMedian = 5;
constexpr int64_t kPartsOfExcess = 20;  // a span that takes 5 % of it is evidence

int64_t DurationOf(const RankStep& step) {
  return SaturatingSubtract(step.time.end, step.time.begin);
}

// How much longer the first step takes than the median of the others; 0: not much.
int64_t ExcessOfFirstStep(const std::vector<RankStep>& steps) {
  if (steps.size() < kFewestSteps || steps[0].number < 0 || steps[0].number > kLastFirstNumber) return 0;
  std::vector<int64_t> others;
  for (size_t step = 1; step < steps.size(); ++step)
    others.push_back(DurationOf(steps[step]));
  const auto median = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), median, others.end());
  const int64_t first = DurationOf(steps[0]), excess = SaturatingSubtract(first, *median);
  return excess >= kMinExcessNs && first / kTimesMedian >= *median ? excess : 0;
}

// The outermost spans within the step that take much of the excess, or the step itself.
void AddEvidenceOfStep(const Job& job, const HostSpans& host, const RankActivity& rank, int64_t excess, Cause* cause) {
  const SpanColumns& spans = job.trace.spans();
  const RankStep& step = rank.steps[0];
  int64_t end = step.time.begin;
  bool has_evidence = false;
  host.ForEach(Row(step.track), [&](uint32_t span) {
    const Interval time = TimeOfSpan(spans, span);
    if (time.begin < end || time.begin >= step.time.end || !IsSelected(job.selected, span)) return;
    end = time.end;
    if (spans.duration[span].ns < excess / kPartsOfExcess) return;
    cause->AddEvidence(job.trace, rank.rank, {span, time});
    has_evidence = true;
  });
  if (!has_evidence) cause->AddEvidence({rank.rank, step.track, StringId::kEmpty, step.time.begin, step.time.end});
}

}  // namespace

Cause FindSlowFirstStep(const Job& job) {
  Cause cause(FindingKind::kSlowFirstStep, Confidence::kMedium, job.steps);
  cause.NeedOneStep();
  if (!job.has_real_steps()) return cause;
  const HostSpans host(job.trace);
  for (const RankActivity& rank : job.ranks) {
    if (const int64_t excess = ExcessOfFirstStep(rank.steps); excess > 0) {
      cause.AddSaving(rank.first_step, excess);
      AddEvidenceOfStep(job, host, rank, excess, &cause);
    }
  }
  return cause;
}

}  // namespace opscope::advise

// One pass over the spans by track. A work that begins before the call that launched it is impossible, so the time
// between them is a lower bound of the error between the two clocks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/basis.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/device_work.h"
#include "analysis/host_spans.h"
#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "opscope/analysis/overhead.h"

namespace opscope {
namespace {

void CountWorks(const Trace& trace, uint32_t track, WorkFinder* finder, LaunchCalls* calls, AnswerBasis* basis) {
  const SpanColumns& spans = trace.spans();
  finder->ForEach(track, nullptr, [&](uint32_t span, WorkClass) {
    ++basis->works;
    const SpanId call = calls->LaunchOf(span);
    if (call == SpanId::kNone) return;
    ++basis->launched_works;
    const int64_t early = SaturatingSubtract(spans.start[Row(call)].ns, spans.start[span].ns);
    basis->early_works += early > 0 ? 1 : 0;
    basis->clock_error_ns = std::max({basis->clock_error_ns.value_or(0), early, int64_t{0}});
  });
}

}  // namespace

int64_t AnswerBasis::window_ns() const {
  return SaturatingSubtract(end_ns, start_ns);
}

void AnswerBasis::Append(const AnswerBasis& more) {
  const bool was_empty = spans + async_spans == 0, is_empty = more.spans + more.async_spans == 0;
  start_ns = was_empty ? more.start_ns : is_empty ? start_ns : std::min(start_ns, more.start_ns);
  end_ns = was_empty ? more.end_ns : is_empty ? end_ns : std::max(end_ns, more.end_ns);
  constexpr uint64_t AnswerBasis::* kCounts[] = {
      &AnswerBasis::spans,      &AnswerBasis::host_spans,     &AnswerBasis::works,
      &AnswerBasis::step_spans, &AnswerBasis::other_spans,    &AnswerBasis::async_spans,
      &AnswerBasis::left_out,   &AnswerBasis::launched_works, &AnswerBasis::early_works,
  };
  for (const auto count : kCounts)
    this->*count += more.*count;
  recorded_ns = SaturatingAdd(recorded_ns, more.recorded_ns);
  clock_error_ns = std::max(clock_error_ns, more.clock_error_ns);
  overhead_ns =
      overhead_ns && more.overhead_ns ? std::optional(SaturatingAdd(*overhead_ns, *more.overhead_ns)) : std::nullopt;
  if (use && more.use) {
    use->used += more.use->used;
    use->left_out += more.use->left_out;
    use->unread += more.use->unread;
    use->outside_steps += more.use->outside_steps;
  } else {
    use.reset();
  }
}

AnswerBasis MeasureBasis(const Trace& trace, const std::vector<uint8_t>* selected, const SpanUse* use) {
  const SpanColumns& spans = trace.spans();
  AnswerBasis basis;
  WorkFinder finder(trace);
  LaunchCalls calls(trace);
  const HostSpans host(trace);
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    CountWorks(trace, track, &finder, &calls, &basis);
    host.ForEach(track, [&](uint32_t) { ++basis.host_spans; });
  }
  const auto is_async = [](uint8_t flags) { return (flags & span_flags::kAsync) != 0; };
  basis.async_spans = static_cast<uint64_t>(std::count_if(spans.flags.begin(), spans.flags.end(), is_async));
  basis.spans = spans.size() - basis.async_spans;
  std::vector<SpanId> steps(trace.steps().span.begin(), trace.steps().span.end());
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  for (const SpanId step : steps)
    basis.step_spans += step != SpanId::kNone && !is_async(spans.flags[Row(step)]) ? 1 : 0;
  const uint64_t classified = basis.host_spans + basis.works + basis.step_spans;
  basis.other_spans = basis.spans - std::min(basis.spans, classified);
  if (selected != nullptr) basis.left_out = static_cast<uint64_t>(std::count(selected->begin(), selected->end(), 0));
  const TraceWindow window = WindowOfSpans(trace);
  basis.start_ns = window.start_ns, basis.end_ns = window.end_ns;
  basis.recorded_ns = basis.window_ns();
  if (const Result<SpanOverheads> overhead = MeasureOverhead(trace); overhead.ok())
    basis.overhead_ns = std::llround(overhead.value().whole_ns);
  if (use != nullptr) basis.use = CountUsedSpans(trace, selected, *use);
  return basis;
}

}  // namespace opscope

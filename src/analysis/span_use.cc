// Marks the spans that the analysis reads, class by class, then counts every span once:
//
//   ProfilerStep#1 [0, 10), aten::mm [2, 8), aten::add [12, 14), an asynchronous span
//   steps: 2 used, 1 outside of steps (aten::add), 1 unread
//
// Each analysis could count for itself, but only in its hottest loop; a description of what it reads costs nothing
// there. The price is that the description can be wrong, which the tests of each verb guard against.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/span_use.h"

#include <map>
#include <utility>

#include "analysis/device_work.h"
#include "analysis/host_spans.h"
#include "analysis/intervals.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using ReadMarks = std::vector<uint8_t>;  // by span; 1: the analysis reads it

bool IsAsyncSpan(const SpanColumns& spans, uint32_t span) {
  return (spans.flags[span] & span_flags::kAsync) != 0;
}

ReadMarks MarkReadSpans(const Trace& trace, const SpanUse& use) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  ReadMarks marks(spans.size(), use.other_spans ? 1 : 0);
  WorkFinder finder(trace);
  LaunchCalls calls(trace);
  const HostSpans host(trace);
  std::vector<SpanId> launches;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    host.ForEach(track, [&](uint32_t span) {
      marks[span] = use.host_spans || (use.operators && spans.kind[span] == SpanKind::kOperator) ? 1 : 0;
    });
    if (tracks.kind[track] != TrackKind::kDeviceStream) continue;
    for (const uint32_t span : SpansOfTrack(trace, track)) {
      if (use.device_waits && spans.kind[span] == SpanKind::kSynchronization) marks[span] = 1;
      if (!finder.ClassOf(span)) continue;
      marks[span] = use.works ? 1 : 0;
      if (use.launches) launches.push_back(calls.LaunchOf(span));
    }
  }
  for (const SpanId call : launches)
    if (call != SpanId::kNone) marks[Row(call)] = 1;
  for (const SpanId step : trace.steps().span)
    if (step != SpanId::kNone) marks[Row(step)] = use.step_spans ? 1 : 0;
  for (uint32_t span = 0; span < spans.size(); ++span)
    if (IsAsyncSpan(spans, span)) marks[span] = 0;
  return marks;
}

// The steps of each rank.
class StepMoments {
 public:
  explicit StepMoments(const Trace& trace) : trace_(trace) {
    std::map<int32_t, std::vector<Interval>> times;
    const SpanColumns& spans = trace.spans();
    for (const SpanId step : trace.steps().span) {
      if (step == SpanId::kNone) continue;
      times[RankOfTrack(trace, spans.track[Row(step)])].push_back(TimeOfSpan(spans, Row(step)));
    }
    for (auto& [rank, intervals] : times)
      steps_.emplace(rank, IntervalSet(std::move(intervals)));
  }

  bool has_steps() const { return !steps_.empty(); }

  bool HasPartOf(uint32_t span) const {
    const auto steps = steps_.find(RankOfTrack(trace_, trace_.spans().track[span]));
    if (steps == steps_.end()) return false;
    const Interval time = TimeOfSpan(trace_.spans(), span);
    return steps->second.LengthIn(time.begin, time.end > time.begin ? time.end : SaturatingAdd(time.begin, 1)) > 0;
  }

 private:
  const Trace& trace_;
  std::map<int32_t, IntervalSet> steps_;
};

}  // namespace

SpanUseCounts CountUsedSpans(const Trace& trace, const std::vector<uint8_t>* selected, const SpanUse& use) {
  const ReadMarks marks = MarkReadSpans(trace, use);
  const StepMoments steps(trace);
  const bool needs_step =
      use.place == SpanUsePlace::kInSteps || (use.place == SpanUsePlace::kInStepsIfAny && steps.has_steps());
  SpanUseCounts counts;
  for (uint32_t span = 0; span < marks.size(); ++span) {
    if (!IsSelected(selected, span)) {
      ++counts.left_out;
    } else if (marks[span] == 0) {
      ++counts.unread;
    } else if (needs_step && !steps.HasPartOf(span)) {
      ++counts.outside_steps;
    } else {
      ++counts.used;
    }
  }
  return counts;
}

}  // namespace opscope

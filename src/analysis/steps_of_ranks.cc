// The steps of a rank are cut into stretches that do not overlap, so the step at a time is one binary search. Ranks are
// kept apart because in a merged trace each rank has its own steps, with the same numbers at other times.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/steps_of_ranks.h"

#include <algorithm>
#include <iterator>

#include "analysis/track_spans.h"

namespace opscope {

int32_t RankOfTrack(const Trace& trace, TrackId track) {
  const ProcessId process = trace.tracks().process[Row(track)];
  return process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
}

// The open steps are a stack: the one that began last is on top, and those below it go on when it ends.
StepTimeline::StepTimeline(std::span<const Interval> steps) {
  std::vector<uint32_t> open;
  int64_t from = INT64_MIN;  // up to here the stretches are known
  const auto add_until = [&](int64_t until) {
    if (from < until) stretches_.push_back({from, until, open.back()});
    from = std::max(from, until);
  };
  const auto close_until = [&](int64_t time) {
    for (; !open.empty() && steps[open.back()].end <= time; open.pop_back())
      add_until(steps[open.back()].end);
    if (!open.empty()) add_until(time);
    from = time;
  };
  for (uint32_t step = 0; step < steps.size(); ++step) {
    close_until(steps[step].begin);
    open.push_back(step);
  }
  close_until(INT64_MAX);
}

StepTimeline::Stretch StepTimeline::At(int64_t time) const {
  Stretch outside{INT64_MIN, INT64_MAX, kNone};
  const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), time,
                                      [](int64_t t, const Stretch& stretch) { return t < stretch.from; });
  if (after != stretches_.end()) outside.until = after->from;
  if (after == stretches_.begin()) return outside;
  if (time < std::prev(after)->until) return *std::prev(after);
  outside.from = std::prev(after)->until;
  return outside;
}

StepsOfRanks::StepsOfRanks(const Trace& trace) : steps_(trace.steps()) {
  const SpanColumns& spans = trace.spans();
  for (uint32_t row = 0; row < steps_.size(); ++row) {
    if (steps_.span[row] != SpanId::kNone)
      ranks_[RankOfTrack(trace, spans.track[Row(steps_.span[row])])].rows.push_back(row);
  }
  const auto start = [&](uint32_t row) { return spans.start[Row(steps_.span[row])].ns; };
  for (auto& [rank, steps] : ranks_) {
    std::stable_sort(steps.rows.begin(), steps.rows.end(), [&](uint32_t a, uint32_t b) { return start(a) < start(b); });
    std::vector<Interval> times;
    times.reserve(steps.rows.size());
    for (const uint32_t row : steps.rows)
      times.push_back(TimeOfSpan(spans, Row(steps_.span[row])));
    steps.timeline = StepTimeline(times);
  }
}

StepsOfRanks::Stretch StepsOfRanks::StretchAround(int32_t rank, int64_t time) const {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return {INT64_MIN, INT64_MAX, kNone};
  const StepTimeline::Stretch stretch = found->second.timeline.At(time);
  return {stretch.from, stretch.until, stretch.step == kNone ? kNone : found->second.rows[stretch.step]};
}

void StepCursor::Move(TrackId track, int64_t time) {
  track_ = track;
  stretch_ = steps_.StretchAround(RankOfTrack(trace_, track), time);
}

int64_t StepsOfRanks::NumberAt(int32_t rank, int64_t time) const {
  const uint32_t row = StretchAround(rank, time).row;
  return row == kNone ? -1 : steps_.number[row];
}

}  // namespace opscope

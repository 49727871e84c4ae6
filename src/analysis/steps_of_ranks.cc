// Steps of a rank are sorted by begin, so the step at a time is a binary search for the last one that began before it.
// Ranks are kept apart because in a merged trace each rank has its own steps, with the same numbers at other times.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/steps_of_ranks.h"

#include <algorithm>

namespace opscope {

int32_t RankOfTrack(const Trace& trace, TrackId track) {
  const ProcessId process = trace.tracks().process[Row(track)];
  return process == ProcessId::kNone ? -1 : trace.processes().rank[Row(process)];
}

StepsOfRanks::StepsOfRanks(const Trace& trace) {
  const StepColumns& steps = trace.steps();
  const SpanColumns& spans = trace.spans();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.span[i] == SpanId::kNone) continue;
    const uint32_t span = Row(steps.span[i]);
    steps_[RankOfTrack(trace, spans.track[span])].push_back({spans.start[span].ns,
                                                             (spans.start[span] + spans.duration[span]).ns,
                                                             steps.number[i], static_cast<uint32_t>(i)});
  }
  for (auto& [rank, list] : steps_)
    std::stable_sort(list.begin(), list.end(), [](const Step& a, const Step& b) { return a.start < b.start; });
}

StepsOfRanks::Stretch StepsOfRanks::StretchAround(int32_t rank, int64_t time) const {
  Stretch stretch{INT64_MIN, INT64_MAX, kNone};
  const auto found = steps_.find(rank);
  if (found == steps_.end()) return stretch;
  const auto& list = found->second;
  const auto after =
      std::upper_bound(list.begin(), list.end(), time, [](int64_t t, const Step& step) { return t < step.start; });
  if (after != list.end()) stretch.until = after->start;
  if (after == list.begin()) return stretch;
  const Step& step = *std::prev(after);
  if (time >= step.end) return {step.end, stretch.until, kNone};
  return {step.start, std::min(step.end, stretch.until), step.row};
}

void StepCursor::Move(TrackId track, int64_t time) {
  track_ = track;
  stretch_ = steps_.StretchAround(RankOfTrack(trace_, track), time);
}

int64_t StepsOfRanks::NumberAt(int32_t rank, int64_t time) const {
  const auto found = steps_.find(rank);
  if (found == steps_.end()) return -1;
  const auto& list = found->second;
  const auto after =
      std::upper_bound(list.begin(), list.end(), time, [](int64_t t, const Step& step) { return t < step.start; });
  if (after == list.begin() || time >= std::prev(after)->end) return -1;
  return std::prev(after)->number;
}

}  // namespace opscope

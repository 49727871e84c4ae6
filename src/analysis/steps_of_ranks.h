// Finds the step at a time: of those that contain it, the one that began last.
//
// Thread rule: StepTimeline and StepsOfRanks are immutable, any thread; StepCursor is for one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/intervals.h"
#include "opscope/trace.h"

namespace opscope {

// The steps of one rank on a line. Steps may overlap, for example those of several processes without a rank:
//
//   steps 0 [0, 100)  1 [20, 30)      stretches: 0 [0, 20)  1 [20, 30)  0 [30, 100)
class StepTimeline {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  // The times [from, until) around a time in which the step is the same.
  struct Stretch {
    int64_t from = 0, until = 0;
    uint32_t step = kNone;  // index; kNone: outside of all steps
  };

  StepTimeline() = default;
  // `steps`: by begin. O(n).
  explicit StepTimeline(std::span<const Interval> steps);

  // O(log n).
  Stretch At(int64_t time) const;

 private:
  std::vector<Stretch> stretches_;  // in order of time; each has a length above 0 and lies in a step
};

class StepsOfRanks {
 public:
  static constexpr uint32_t kNone = StepTimeline::kNone;

  explicit StepsOfRanks(const Trace& trace);  // which outlives this
  // The step's number; -1 outside of all steps. O(log steps).
  int64_t NumberAt(int32_t rank, int64_t time) const;

  // The times [from, until) around a time in which the step is the same.
  struct Stretch {
    int64_t from = 0, until = 0;
    uint32_t row = kNone;  // of `steps`; kNone: outside of all steps
  };
  Stretch StretchAround(int32_t rank, int64_t time) const;

 private:
  struct StepsOfRank {
    std::vector<uint32_t> rows;  // of `steps`, by begin
    StepTimeline timeline;
  };
  const StepColumns& steps_;
  std::map<int32_t, StepsOfRank> ranks_;
};

// Finds the steps of many spans. O(1) where a span lies on the track and in the step of the span before, which is
// nearly always, because spans go by track and begin.
class StepCursor {
 public:
  StepCursor(const Trace& trace, const StepsOfRanks& steps) : trace_(trace), steps_(steps) {}

  // The row of `steps` in which a span of the track begins at the time; StepsOfRanks::kNone outside of all steps.
  uint32_t StepAt(TrackId track, int64_t time) {
    if (track != track_ || time < stretch_.from || time >= stretch_.until) Move(track, time);
    return stretch_.row;
  }

 private:
  void Move(TrackId track, int64_t time);

  const Trace& trace_;
  const StepsOfRanks& steps_;
  TrackId track_ = TrackId::kNone;
  StepsOfRanks::Stretch stretch_;
};

// The rank of a track's process; -1 if unknown.
int32_t RankOfTrack(const Trace& trace, TrackId track);

}  // namespace opscope

// The step at a time, against its definition for each moment.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/steps_of_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

TEST(StepTimeline, GoesOnWithAStepBehindOneInsideIt) {
  const std::vector<Interval> steps = {{0, 100}, {20, 30}};
  const StepTimeline timeline(steps);
  EXPECT_EQ(timeline.At(-1).step, StepTimeline::kNone);
  EXPECT_EQ(timeline.At(19).step, 0u);
  EXPECT_EQ(timeline.At(20).step, 1u);
  EXPECT_EQ(timeline.At(30).step, 0u);
  EXPECT_EQ(timeline.At(100).step, StepTimeline::kNone);
}

TEST(StepTimeline, EqualsItsDefinitionOnRandomSteps) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
    std::vector<Interval> steps;
    for (int64_t left = below(7); left > 0; --left) {
      const int64_t begin = below(20);
      steps.push_back({begin, begin + below(12)});
    }
    const auto is_before = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
    std::stable_sort(steps.begin(), steps.end(), is_before);
    const StepTimeline timeline(steps);
    const auto step_at = [&](int64_t time) {
      uint32_t last = StepTimeline::kNone;  // of those that contain the time, the one that began last
      for (uint32_t step = 0; step < steps.size(); ++step)
        if (steps[step].begin <= time && time < steps[step].end) last = step;
      return last;
    };
    for (int64_t time = -2; time < 35; ++time) {
      const StepTimeline::Stretch stretch = timeline.At(time);
      ASSERT_EQ(stretch.step, step_at(time)) << "seed " << seed << ", time " << time;
      ASSERT_TRUE(stretch.from <= time && time < stretch.until);
      for (int64_t other = std::max<int64_t>(stretch.from, -2); other < std::min<int64_t>(stretch.until, 35); ++other)
        ASSERT_EQ(stretch.step, step_at(other)) << "seed " << seed << ", time " << time;
    }
  }
}

TEST(StepsOfRanks, BearHostileTimes) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t start : {INT64_MIN, int64_t{0}, INT64_MAX - 1}) {
    const AddedSpan span = builder.AddSpan({.start = {start}, .duration = {INT64_MAX}, .track = track});
    builder.AddStep(7, builder.Intern("step"), span);
  }
  const Trace trace = builder.Build();
  const StepsOfRanks steps(trace);
  EXPECT_EQ(steps.NumberAt(-1, INT64_MAX - 1), 7) << "its end is no number of 64 bits";
  EXPECT_EQ(steps.NumberAt(-1, -1), -1);
  EXPECT_EQ(steps.NumberAt(0, 0), -1) << "another rank";
}

}  // namespace
}  // namespace opscope

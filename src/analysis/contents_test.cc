// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/contents.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

TEST(Contents, NameTheStepsThatHaveASpanAsRanges) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t number : {9, 0, 1, 2, 7}) {
    const AddedSpan span =
        builder.AddSpan({.start = {100 * number}, .duration = {10}, .name = builder.Intern("step"), .track = track});
    builder.AddStep(number, builder.Intern("step"), span);
  }
  const Trace trace = builder.Build();
  EXPECT_EQ(StepRanges(trace), "0..2, 7, 9");
  EXPECT_EQ(StepRanges(Trace()), "");
}

TEST(Contents, CountTheSpansOfEachStepOfEachRank) {
  TraceBuilder builder;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = rank, .rank = rank}), .tid = 1});
    for (const int64_t number : {1, 2}) {
      const AddedSpan span =
          builder.AddSpan({.start = {100 * number}, .duration = {50}, .name = builder.Intern("step"), .track = track});
      builder.AddStep(number, builder.Intern("step"), span);
      for (int64_t i = 0; i < number + rank; ++i)
        builder.AddSpan({.start = {100 * number + 10 * i}, .duration = {5}, .track = track});
    }
  }
  const Trace trace = builder.Build();
  std::vector<std::string> rows;
  for (const ListedStep& step : ListSteps(trace))
    rows.push_back(std::to_string(step.rank) + ": " + std::to_string(step.number) + " " + std::to_string(step.spans));
  EXPECT_EQ(rows, (std::vector<std::string>{"0: 1 2", "0: 2 3", "1: 1 3", "1: 2 4"}));
}

TEST(Contents, ListEachTrackWithSpansAsTablesCallIt) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 3});
  const StringId worker = builder.Intern("worker");
  const auto add = [&](TrackKind kind, int64_t tid, StringId name, int spans) {
    const TrackId track = builder.AddTrack({.process = process, .kind = kind, .tid = tid, .name = name});
    for (int i = 0; i < spans; ++i)
      builder.AddSpan({.start = {10 * i}, .duration = {5}, .track = track});
  };
  add(TrackKind::kThread, 1, worker, 1);
  add(TrackKind::kThread, 2, worker, 2);
  add(TrackKind::kThread, 3, builder.Intern("idle"), 0);
  add(TrackKind::kThread, 4, builder.Intern("idle"), 1);
  add(TrackKind::kDeviceStream, 7, StringId::kNone, 1);
  add(TrackKind::kDeviceAnnotation, 7, StringId::kNone, 1);
  add(TrackKind::kDeviceStream, 8, builder.Intern("stream 8 "), 1);
  add(TrackKind::kDeviceAnnotation, 8, builder.Intern("stream 8 "), 1);
  const Trace trace = builder.Build();
  std::vector<std::string> names;
  for (const ListedThread& thread : ListThreads(trace)) {
    names.push_back(thread.name);
    EXPECT_EQ(thread.pid, "3");
    EXPECT_EQ(thread.start_ns, 0);
    EXPECT_EQ(thread.end_ns, thread.spans == 2 ? 15 : 5);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"worker (1)", "worker (2)", "idle", "7", "7 (annotations)", "stream 8",
                                             "stream 8 (annotations)"}));
}

TEST(Contents, CountTheSpansOfEachStepWhereSeveralHaveOneNumber) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t start : {0, 100}) {
    const AddedSpan span = builder.AddSpan({.start = {start}, .duration = {50}, .track = track});
    builder.AddStep(0, builder.Intern("step"), span);
  }
  builder.AddSpan({.start = {110}, .duration = {5}, .track = track});
  const std::vector<ListedStep> steps = ListSteps(builder.Build());
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].spans, 1u);
  EXPECT_EQ(steps[1].spans, 2u);
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/diff.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/op_summary_part.h"
#include "analysis/random_trace_for_test.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// A run of steps of 1000 ns, in which tests add spans.
class DiffedRun {
 public:
  explicit DiffedRun(int64_t steps) {
    process_ = builder_.AddProcess({.pid = 1, .rank = 0});
    thread_ = builder_.AddTrack({.process = process_, .tid = 1});
    for (int64_t step = 0; step < steps; ++step) {
      const std::string name = "ProfilerStep#" + std::to_string(step);
      builder_.AddStep(step, builder_.Intern(name), Add(name, step, 0, 1000, "user_annotation"));
    }
  }
  AddedSpan Add(const std::string& name, int64_t step, int64_t begin, int64_t ns, const char* category = "cpu_op") {
    return builder_.AddSpan({.start = {step * 1000 + begin},
                             .duration = {ns},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = thread_});
  }
  TrackId AddDeviceTrack(TrackKind kind) {
    return builder_.AddTrack({.process = process_, .kind = kind, .tid = 7, .device = 0});
  }
  TraceBuilder& builder() { return builder_; }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
  ProcessId process_;
  TrackId thread_;
};

// One span per step with these self times.
Trace RunOf(const std::vector<int64_t>& times, const std::string& name = "aten::mm") {
  DiffedRun run(static_cast<int64_t>(times.size()));
  for (size_t step = 0; step < times.size(); ++step)
    if (times[step] > 0) run.Add(name, static_cast<int64_t>(step), 10, times[step]);
  return run.Build();
}

TEST(TraceDiff, HasTheNumbersOfTheExampleOfTheDefinition) {
  const TraceDiff diff = DiffTraces(RunOf({100, 110, 120}), RunOf({140, 150, 160}));
  ASSERT_EQ(diff.rows.size(), 1u);
  const DiffRow& row = diff.rows[0];
  EXPECT_EQ(row.name, "aten::mm");
  EXPECT_EQ(row.difference.delta_ns, 40);
  EXPECT_EQ(row.difference.low_ns, 17);
  EXPECT_EQ(row.difference.high_ns, 63);
  EXPECT_NEAR(row.difference.p.value(), 0.0080498931008377, 1e-12);
  EXPECT_EQ(row.status, DiffStatus::kSlower);
  EXPECT_EQ(row.a.count, 3u);
  EXPECT_EQ(row.a.self_ns, 330);
  EXPECT_EQ(row.b.total_ns, 450);
  EXPECT_EQ(diff.steps.a_count, 3u);
  EXPECT_EQ(diff.steps.a_mean_ns, 1000);
  EXPECT_EQ(diff.steps.difference->delta_ns, 0);
  EXPECT_EQ(diff.steps.difference->p, 1);
  EXPECT_EQ(DiffTraces(RunOf({140, 150, 160}), RunOf({100, 110, 120})).rows[0].status, DiffStatus::kFaster);
}

TEST(TraceDiff, OfATraceWithItselfHasNoDifference) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Trace trace = RandomTrace(seed, {.spans = 20, .has_device = true});
    for (size_t by = 0; by < DiffKeyNames().size(); ++by) {
      const TraceDiff diff = DiffTraces(trace, trace, {.by = static_cast<DiffKey>(by)});
      for (const DiffRow& row : diff.rows) {
        EXPECT_EQ(row.status, DiffStatus::kMatched);
        EXPECT_EQ(row.difference.delta_ns, 0);
        EXPECT_EQ(row.a.self_ns, row.b.self_ns);
      }
    }
  }
  const Trace steady = RunOf({100, 110, 120});
  EXPECT_EQ(DiffTraces(steady, steady).rows[0].difference.p, 1);
}

TEST(TraceDiff, NamesWhatOneSideLacks) {
  DiffedRun both(3), one(3);
  for (int64_t step = 0; step < 3; ++step) {
    both.Add("aten::mm", step, 0, 100);
    both.Add("aten::gone", step, 200, 50 + step);
    one.Add("aten::mm", step, 0, 100);
  }
  const Trace a = both.Build(), b = one.Build();
  const TraceDiff gone = DiffTraces(a, b), added = DiffTraces(b, a);
  ASSERT_EQ(gone.rows.size(), 2u);
  EXPECT_EQ(gone.rows[0].name, "aten::gone");
  EXPECT_EQ(gone.rows[0].status, DiffStatus::kVanished);
  EXPECT_EQ(gone.rows[0].difference.delta_ns, -51);
  EXPECT_EQ(gone.rows[0].b.count, 0u);
  EXPECT_LT(gone.rows[0].difference.p, 0.05) << "a side without the key has samples of 0";
  EXPECT_EQ(gone.rows[1].status, DiffStatus::kMatched);
  EXPECT_EQ(added.rows[0].status, DiffStatus::kNew);
  EXPECT_EQ(added.rows[0].difference.delta_ns, 51);
}

TEST(TraceDiff, IsTheDifferenceOfSumsWithoutStepsOnASide) {
  DiffedRun none(0);
  none.Add("aten::mm", 0, 0, 70);
  none.Add("aten::mm", 0, 100, 80);
  const TraceDiff diff = DiffTraces(RunOf({100, 110, 120}), none.Build());
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].difference.delta_ns, 150 - 330);
  EXPECT_EQ(diff.rows[0].difference.low_ns, std::nullopt);
  EXPECT_EQ(diff.rows[0].difference.p, std::nullopt);
  EXPECT_EQ(diff.rows[0].status, DiffStatus::kMatched);
  EXPECT_EQ(diff.steps.a_count, 3u);
  EXPECT_EQ(diff.steps.b_count, 0u);
  EXPECT_EQ(diff.steps.b_mean_ns, std::nullopt);
  EXPECT_FALSE(diff.steps.difference.has_value());
}

TEST(TraceDiff, TestsNothingWithLessThanThreeSteps) {
  const TraceDiff diff = DiffTraces(RunOf({100, 110}), RunOf({900, 901, 902}));
  EXPECT_EQ(diff.rows[0].difference.delta_ns, 796);
  EXPECT_EQ(diff.rows[0].difference.low_ns, std::nullopt);
  EXPECT_EQ(diff.rows[0].difference.p, std::nullopt);
  EXPECT_EQ(diff.rows[0].status, DiffStatus::kMatched);
}

TEST(TraceDiff, IsCertainOfStepsThatAreAllEqual) {
  const DiffRow row = DiffTraces(RunOf({100, 100, 100}), RunOf({107, 107, 107})).rows[0];
  EXPECT_EQ(row.difference.low_ns, 7);
  EXPECT_EQ(row.difference.high_ns, 7);
  EXPECT_EQ(row.difference.p, 0);
  EXPECT_EQ(row.status, DiffStatus::kSlower);
}

TEST(TraceDiff, TakesMeansOfRunsAsSamplesWhereASideHasSeveral) {
  const Trace a = RunOf({100, 120}), b1 = RunOf({140}), b2 = RunOf({150, 150}), b3 = RunOf({160, 0, 320});
  const Trace *const one[] = {&a}, *const three[] = {&b1, &b2, &b3};
  const TraceDiff some = DiffRuns(one, three);
  EXPECT_EQ(some.rows[0].difference.delta_ns, 40) << "(140 + 150 + 160) / 3 - 110";
  EXPECT_EQ(some.rows[0].difference.p, std::nullopt) << "A is one sample";
  EXPECT_EQ(some.rows[0].b.count, 5u);
  EXPECT_EQ(some.rows[0].b.self_ns, 140 + 300 + 480);
  EXPECT_EQ(some.steps.a_count, 1u);
  EXPECT_EQ(some.steps.b_count, 3u);
  const TraceDiff all = DiffRuns(three, three);
  EXPECT_EQ(all.rows[0].difference.p, 1);
  EXPECT_EQ(all.rows[0].difference.low_ns, -23) << "2.776 * sqrt(200 / 3) = 22.67";
}

TEST(TraceDiff, TakesEachStepOfEachRankForASample) {
  TraceBuilder builder;
  for (int32_t rank = 0; rank < 2; ++rank) {
    const TrackId thread = builder.AddTrack({.process = builder.AddProcess({.pid = rank, .rank = rank}), .tid = 1});
    for (int64_t step = 0; step < 2; ++step) {
      const AddedSpan span = builder.AddSpan(
          {.start = {step * 100}, .duration = {100}, .name = builder.Intern("ProfilerStep#1"), .track = thread});
      builder.AddStep(1, builder.Intern("ProfilerStep#1"), span);
      builder.AddSpan(
          {.start = {step * 100}, .duration = {10 + rank}, .name = builder.Intern("aten::mm"), .track = thread});
    }
  }
  const Trace trace = builder.Build();
  const TraceDiff diff = DiffTraces(trace, trace);
  EXPECT_EQ(diff.steps.a_count, 4u) << "steps of one number are steps nevertheless";
  EXPECT_EQ(diff.rows[0].difference.p, 1);
}

TEST(TraceDiff, LeavesOutRangesOfStepsOnDevicesToo) {
  DiffedRun run(3);
  run.builder().AddSpan({.start = {5},
                         .duration = {10},
                         .name = run.builder().Intern("ProfilerStep#0"),
                         .category = run.builder().Intern("gpu_user_annotation"),
                         .track = run.AddDeviceTrack(TrackKind::kDeviceAnnotation)});
  const Trace trace = run.Build();
  EXPECT_TRUE(DiffTraces(trace, trace).rows.empty());
}

TEST(TraceDiff, AddsSpansOfHostsAndDevicesWithOneName) {
  DiffedRun run(1);
  run.Add("forward", 0, 0, 10);
  run.builder().AddSpan({.start = {5},
                         .duration = {30},
                         .name = run.builder().Intern("forward"),
                         .track = run.AddDeviceTrack(TrackKind::kDeviceAnnotation)});
  const TraceDiff diff = DiffTraces(run.Build(), Trace());
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].a.count, 2u);
  EXPECT_EQ(diff.rows[0].a.self_ns, 40);
}

TEST(TraceDiff, ComparesSelectedSpansInTheStepsThatTheConditionLeaves) {
  const Trace a = RunOf({100, 0, 110, 120, 130}), b = RunOf({100, 50, 110, 120, 150});
  const auto delta = [&](const char* condition) {
    const Result<SpanFilter> filter = SpanFilter::Parse(condition);
    const TraceDiff diff = DiffTraces(a, b, {.filter = &filter.value()});
    return std::pair(diff.steps.a_count, diff.rows.empty() ? 0 : diff.rows[0].difference.delta_ns);
  };
  EXPECT_EQ(delta("name ~ mm"), std::pair(uint64_t{5}, int64_t{14})) << "the step without it counts as 0";
  EXPECT_EQ(delta("step >= 1 and step <= 1"), std::pair(uint64_t{1}, int64_t{50}));
  EXPECT_EQ(delta("name ~ mm and not step < 3"), std::pair(uint64_t{2}, int64_t{10}));
  EXPECT_EQ(delta("not (step = 1 and name = aten::mm)").first, 5u);
  EXPECT_EQ(delta("start >= 1us").first, 4u);
  EXPECT_EQ(delta("rank = 1").first, 0u);
  EXPECT_EQ(delta("step = 1 or rank = 1").first, 1u);
}

TEST(TraceDiff, OfNothingIsNothing) {
  const TraceDiff diff = DiffTraces(Trace(), Trace());
  EXPECT_TRUE(diff.rows.empty());
  EXPECT_TRUE(diff.memory.empty());
  EXPECT_EQ(diff.steps.a_count, 0u);
  EXPECT_TRUE(DiffRuns({}, {}).rows.empty());
}

TEST(TraceDiff, HasThePeakOfTheExampleOfMemory) {
  DiffedRun run(0);
  const auto event = [&](int64_t time, int64_t bytes, int64_t total) {
    run.builder().AddAllocation({.time = {time}, .bytes = bytes, .total_allocated = total, .device = 0});
  };
  event(40, -120, 130);
  event(10, 100, 300);
  event(20, 50, 350);
  event(30, -100, 250);
  const TraceDiff diff = DiffTraces(run.Build(), Trace());
  ASSERT_EQ(diff.memory.size(), 1u);
  EXPECT_EQ(diff.memory[0].rank, -1);
  EXPECT_EQ(diff.memory[0].device, 0);
  EXPECT_EQ(diff.memory[0].a_peak_bytes, 350);
  EXPECT_EQ(diff.memory[0].b_peak_bytes, std::nullopt);
}

TEST(TraceDiff, BearsTimesThatAddUpToMoreThanSixtyFourBits) {
  DiffedRun run(3);
  for (int64_t step = 0; step < 3; ++step)
    for (int i = 0; i < 3; ++i)
      run.Add("a" + std::string(1, '\0') + "b", step, 0, INT64_MAX - 5000);
  run.builder().AddAllocation({.bytes = INT64_MAX, .total_allocated = 0});
  run.builder().AddAllocation({.bytes = INT64_MAX, .total_allocated = 0});
  const Trace trace = run.Build();
  const TraceDiff diff = DiffTraces(Trace(), trace);
  EXPECT_EQ(diff.rows[0].b.total_ns, INT64_MAX);
  EXPECT_EQ(diff.rows[0].status, DiffStatus::kNew);
  EXPECT_EQ(DiffTraces(trace, Trace()).rows[0].status, DiffStatus::kVanished);
}

TEST(OpSummaryOfSteps, IsTheSummaryByNameAndStepWhateverTheChunks) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    DiffedRun run(4);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 40; ++i)
      run.Add(std::string(1, static_cast<char>('a' + random() % 3)), static_cast<int64_t>(random() % 5),
              static_cast<int64_t>(random() % 1000), static_cast<int64_t>(random() % 300));
    const Trace trace = run.Build();
    const StepsOfRanks steps(trace);
    std::map<std::pair<std::string, std::string>, int64_t> expected, found;
    for (const OpSummaryRow& row : SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kStep}}).rows)
      if (!row.keys[0].empty() && row.self_ns > 0)
        expected[{std::string(trace.text(row.name)), row.keys[0]}] = row.self_ns;
    for (const size_t chunk_size : {0, 1, 3, 16}) {
      found.clear();
      const OpSummaryOfSteps ops = SummarizeOpsBySteps(trace, steps, {}, chunk_size);
      for (const StepSelf& part : ops.step_self)
        found[{std::string(trace.text(ops.summary.rows[part.group].name)),
               std::to_string(trace.steps().number[part.step])}] = part.self_ns;
      EXPECT_EQ(found, expected) << chunk_size;
      EXPECT_EQ(ops.step_self.size(), expected.size()) << "each pair once";
    }
  }
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// One process per rank, with threads and a stream, whose spans tests add by hand.
class Job {
 public:
  TrackId Track(int32_t rank, TrackKind kind, int64_t tid) {
    return builder_.AddTrack({.process = builder_.AddProcess({.pid = 100 + rank, .rank = rank}),
                              .kind = kind,
                              .tid = tid,
                              .device = kind == TrackKind::kDeviceStream ? 0 : -1});
  }
  AddedSpan Add(TrackId track, const char* category, const char* name, int64_t begin, int64_t end, uint8_t flags = 0) {
    return builder_.AddSpan({.start = {begin},
                             .duration = {end - begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = track,
                             .flags = flags});
  }
  void Step(TrackId track, int64_t number, int64_t begin, int64_t end) {
    const std::string name = "ProfilerStep#" + std::to_string(number);
    const AddedSpan span = Add(track, "user_annotation", name.c_str(), begin, end);
    builder_.AddStep(number, builder_.Intern(name), span);
  }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
};

std::vector<int64_t> PartsOf(const StepTimes& row) {
  return {row.compute_ns, row.communication_ns, row.copy_ns, row.input_ns, row.host_ns, row.other_ns, row.idle_ns};
}

using Parts = std::vector<int64_t>;

TEST(Steps, AreDividedAsInTheExampleOfTheDefinition) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1), stream = job.Track(0, TrackKind::kDeviceStream, 7);
  job.Step(thread, 3, 0, 100);
  job.Add(thread, "cpu_op", "aten::mm", 0, 25);
  job.Add(thread, "user_annotation", "forward", 0, 90);
  job.Add(stream, "kernel", "gemm", 20, 50);
  job.Add(stream, "kernel", "ncclDevKernel_AllReduce", 40, 70);
  const Trace trace = job.Build();
  const StepReport report = MeasureSteps(trace);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].rank, 0);
  EXPECT_EQ(report.rows[0].number, 3);
  EXPECT_EQ(trace.text(report.rows[0].name), "ProfilerStep#3");
  EXPECT_EQ(PartsOf(report.rows[0]), (Parts{30, 20, 0, 0, 20, 20, 10}));
}

TEST(Steps, CountWorkWhereItRunsWhicheverStepLaunchedIt) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1), stream = job.Track(0, TrackKind::kDeviceStream, 7);
  job.Step(thread, 1, 0, 10);
  job.Step(thread, 2, 10, 20);
  job.Add(stream, "kernel", "gemm", 8, 15);
  const StepReport report = MeasureSteps(job.Build());
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].compute_ns, 2);
  EXPECT_EQ(report.rows[1].compute_ns, 5);
}

TEST(Steps, CountInputOnTheThreadOfTheStepAlone) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1), other = job.Track(0, TrackKind::kThread, 2);
  job.Step(thread, 1, 0, 100);
  job.Add(thread, "user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 10);
  job.Add(other, "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 20, 50);
  const StepReport report = MeasureSteps(job.Build());
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(PartsOf(report.rows[0]), (Parts{0, 0, 0, 10, 0, 30, 60}));
}

TEST(Steps, TakeCallsOfProcessGroupsForCommunicationWithoutDeviceWorkOnly) {
  for (const bool has_device : {false, true}) {
    Job job;
    const TrackId thread = job.Track(0, TrackKind::kThread, 1);
    job.Step(thread, 1, 0, 100);
    job.Add(thread, "cpu_op", "c10d::allreduce_", 10, 40);
    if (has_device) job.Add(job.Track(0, TrackKind::kDeviceStream, 7), "kernel", "gemm", 200, 210);
    const StepReport report = MeasureSteps(job.Build());
    ASSERT_EQ(report.rows.size(), 1u);
    EXPECT_EQ(report.rows[0].communication_ns, has_device ? 0 : 30);
    EXPECT_EQ(report.rows[0].host_ns, has_device ? 30 : 0);
  }
}

// As a recording of torch has them: a collective ends on a thread of Gloo, after the call that began it.
TEST(Steps, TakeAsynchronousCollectivesOfTheHostForCommunication) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1);
  job.Step(thread, 1, 0, 100);
  job.Add(thread, "cpu_op", "c10d::allreduce_", 10, 20);
  job.Add(thread, "user_annotation", "gloo:all_reduce", 15, 60, span_flags::kAsync);
  job.Add(thread, "cpu_op", "aten::mm", 50, 90);
  job.Add(thread, "user_annotation", "another", 90, 95, span_flags::kAsync);
  const StepReport report = MeasureSteps(job.Build());
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(PartsOf(report.rows[0]), (Parts{0, 50, 0, 0, 30, 0, 20}));
}

TEST(Steps, OfOneRankCountNothingOfAnother) {
  Job job;
  job.Step(job.Track(1, TrackKind::kThread, 1), 0, 0, 10);
  job.Step(job.Track(0, TrackKind::kThread, 1), 0, 0, 20);
  job.Add(job.Track(1, TrackKind::kDeviceStream, 7), "gpu_memcpy", "Memcpy HtoD", 0, 4);
  const StepReport report = MeasureSteps(job.Build());
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].rank, 0) << "rows go by rank";
  EXPECT_EQ(report.rows[0].copy_ns, 0);
  EXPECT_EQ(report.rows[1].copy_ns, 4);
}

TEST(Steps, AreSummedUpByTheStatisticsOfTheirDurations) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1);
  job.Step(thread, 0, 0, 10);
  job.Step(thread, 1, 10, 30);
  job.Step(thread, 2, 30, 61);
  const StepDurations durations = MeasureSteps(job.Build()).durations;
  EXPECT_EQ(durations.count, 3u);
  EXPECT_EQ(durations.mean_ns, 20);
  EXPECT_EQ(durations.p50_ns, 20);
  EXPECT_EQ(durations.p99_ns, 31);
  EXPECT_EQ(durations.min_ns, 10);
  EXPECT_EQ(durations.max_ns, 31);
  EXPECT_EQ(durations.stddev_ns, 9) << "sqrt(((61/3-10)^2 + (61/3-20)^2 + (61/3-31)^2) / 3) = 8.58";
}

TEST(Steps, AreNoneWhereThereAreNone) {
  Job job;
  job.Add(job.Track(0, TrackKind::kThread, 1), "cpu_op", "aten::mm", 0, 10);
  for (const Trace& trace : {job.Build(), Trace()}) {
    const StepReport report = MeasureSteps(trace);
    EXPECT_TRUE(report.rows.empty());
    EXPECT_EQ(report.durations.count, 0u);
    EXPECT_EQ(report.durations.mean_ns, std::nullopt);
    EXPECT_EQ(report.durations.stddev_ns, std::nullopt);
  }
}

TEST(Steps, AreLeftOutIfNothingOfThemIsSelected) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1), stream = job.Track(0, TrackKind::kDeviceStream, 7);
  job.Step(thread, 0, 0, 10);
  job.Step(thread, 1, 10, 30);
  job.Add(stream, "kernel", "gemm", 12, 15);
  job.Add(thread, "cpu_op", "aten::mm", 0, 30);
  const Trace trace = job.Build();
  std::vector<uint8_t> selected(trace.spans().size());
  for (size_t i = 0; i < selected.size(); ++i)
    selected[i] = trace.text(trace.spans().name[i]) == "gemm" ? 1 : 0;
  const StepReport report = MeasureSteps(trace, &selected);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].number, 1);
  EXPECT_EQ(PartsOf(report.rows[0]), (Parts{3, 0, 0, 0, 0, 0, 17}));
}

TEST(Steps, OfHostileTimesHaveNoNegativeParts) {
  Job job;
  const TrackId thread = job.Track(0, TrackKind::kThread, 1), stream = job.Track(0, TrackKind::kDeviceStream, 7);
  job.Step(thread, 0, INT64_MIN, INT64_MIN + 5);
  job.Step(thread, 1, 0, INT64_MAX);
  job.Add(stream, "kernel", "gemm", INT64_MAX - 3, INT64_MAX);
  job.Add(thread, "cpu_op", "aten::mm", INT64_MAX, INT64_MAX);
  for (const StepTimes& row : MeasureSteps(job.Build()).rows)
    for (const int64_t part : PartsOf(row))
      EXPECT_GE(part, 0);
}

// The definition, moment by moment.
Parts ObviousParts(const Trace& trace, const StepTimes& row, uint32_t step_span) {
  const SpanColumns& spans = trace.spans();
  const TrackColumns& tracks = trace.tracks();
  const auto rank_of = [&](uint32_t span) {
    return trace.processes().rank[Row(tracks.process[Row(spans.track[span])])];
  };
  const auto text = [&](StringId id) { return trace.text(id); };
  bool has_works = false;
  for (uint32_t span = 0; span < spans.size(); ++span)
    has_works |= rank_of(span) == row.rank && tracks.kind[Row(spans.track[span])] == TrackKind::kDeviceStream;
  Parts parts(7);
  for (int64_t t = row.start_ns; t < row.start_ns + row.duration_ns; ++t) {
    size_t first = 6;
    for (uint32_t span = 0; span < spans.size(); ++span) {
      const int64_t begin = spans.start[span].ns;
      if (rank_of(span) != row.rank || t < begin || t >= begin + spans.duration[span].ns) continue;
      const std::string_view name = text(spans.name[span]), category = text(spans.category[span]);
      size_t part = 6;
      if (tracks.kind[Row(spans.track[span])] == TrackKind::kDeviceStream) {
        part = category == "gpu_memcpy" ? 2 : name.starts_with("nccl") ? 1 : 0;
      } else if (!name.starts_with("ProfilerStep#")) {
        part = category == "user_annotation" ? 5 : 4;
        if (name.starts_with("enumerate(DataLoader)") && spans.track[span] == spans.track[step_span]) part = 3;
        if (name.starts_with("c10d::") && !has_works) part = 1;
      }
      first = std::min(first, part);
    }
    ++parts[first];
  }
  return parts;
}

TEST(Steps, EqualTheirDefinitionMomentByMomentOnRandomTraces) {
  std::mt19937_64 random(7);
  const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  for (int round = 0; round < 1'000; ++round) {
    Job job;
    const bool has_device = below(3) != 0;
    for (int32_t rank = 0; rank < 2; ++rank) {
      const TrackId threads[] = {job.Track(rank, TrackKind::kThread, 1), job.Track(rank, TrackKind::kThread, 2)};
      for (int64_t step = 0; step < 3; ++step) {
        const int64_t begin = below(40);
        job.Step(threads[below(2)], step, begin, begin + below(20));
      }
      for (int i = 0; i < 8; ++i) {
        const int64_t begin = below(50), end = begin + below(12);
        const char* names[] = {"aten::mm", "c10d::allreduce_", "enumerate(DataLoader)#1"};
        const int64_t name = below(3);
        job.Add(threads[below(2)], name == 2 || below(3) == 0 ? "user_annotation" : "cpu_op", names[name], begin, end);
      }
      const TrackId streams[] = {job.Track(rank, TrackKind::kDeviceStream, 7),
                                 job.Track(rank, TrackKind::kDeviceStream, 8)};
      for (int i = 0; has_device && i < 6; ++i) {
        const int64_t begin = below(50), end = begin + below(9);
        const bool is_copy = below(3) == 0;
        job.Add(streams[below(2)], is_copy ? "gpu_memcpy" : "kernel", below(2) == 0 ? "gemm" : "ncclKernel", begin,
                end);
      }
    }
    const Trace trace = job.Build();
    const StepReport report = MeasureSteps(trace);
    EXPECT_EQ(report.rows.size(), trace.steps().size());
    for (const StepTimes& row : report.rows) {
      uint32_t span = UINT32_MAX;
      for (size_t i = 0; i < trace.steps().size(); ++i) {
        const uint32_t candidate = Row(trace.steps().span[i]);
        const ProcessId process = trace.tracks().process[Row(trace.spans().track[candidate])];
        if (trace.steps().number[i] == row.number && trace.processes().rank[Row(process)] == row.rank) span = candidate;
      }
      ASSERT_NE(span, UINT32_MAX);
      EXPECT_EQ(PartsOf(row), ObviousParts(trace, row, span)) << "round " << round << ", step " << row.number;
    }
  }
}

}  // namespace
}  // namespace opscope

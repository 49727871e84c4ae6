// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/devices.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "analysis/intervals.h"
#include "trace/builder.h"

namespace opscope {
namespace {

class DevicesTest : public testing::Test {
 protected:
  TrackId Stream(int32_t device, int64_t tid, TrackKind kind = TrackKind::kDeviceStream) {
    const ProcessId process = builder_.AddProcess({.pid = device});
    return builder_.AddTrack({.process = process, .kind = kind, .tid = tid, .device = device});
  }
  void Span(TrackId track, const char* category, int64_t start, int64_t duration) {
    builder_.AddSpan({.start = {start},
                      .duration = {duration},
                      .name = builder_.Intern("work"),
                      .category = builder_.Intern(category),
                      .track = track});
  }

  TraceBuilder builder_;
};

TEST_F(DevicesTest, CountOverlappingTimeOnce) {
  const TrackId first = Stream(0, 7),
                second = builder_.AddTrack(
                    {.process = ProcessId{0}, .kind = TrackKind::kDeviceStream, .tid = 20, .device = 0});
  Span(first, "kernel", 100, 50);
  Span(first, "kernel", 200, 100);
  Span(second, "gpu_memcpy", 120, 60);
  Span(second, "gpu_memset", 400, 10);
  const Trace trace = builder_.Build();
  const std::vector<DeviceRow> rows = MeasureDevices(trace);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].stream, TrackId::kNone);
  EXPECT_EQ(rows[0].spans, 4u);
  EXPECT_EQ(rows[0].window_ns, 310);
  EXPECT_EQ(rows[0].busy_ns, 80 + 100 + 10);
  EXPECT_EQ(rows[0].idle_ns(), 120);
  EXPECT_EQ(rows[0].longest_idle_ns, 100);
  EXPECT_EQ(rows[0].kernel_ns, 150);
  EXPECT_EQ(rows[0].copy_ns, 60);
  EXPECT_EQ(rows[0].set_ns, 10);
  EXPECT_EQ(rows[1].busy_ns, 150);
  EXPECT_EQ(rows[1].window_ns, 310) << "a stream is idle while its device works elsewhere";
  EXPECT_EQ(rows[1].longest_idle_ns, 110) << "after its last kernel";
  EXPECT_EQ(rows[2].busy_ns, 70);
}

TEST_F(DevicesTest, StandByNumberWhateverTheOrderOfTheFile) {
  const ProcessId second = builder_.AddProcess({.pid = 1}), first = builder_.AddProcess({.pid = 0});
  const auto add = [&](ProcessId process, int32_t device, int64_t tid) {
    const TrackId stream =
        builder_.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = tid, .device = device});
    Span(stream, "kernel", tid, 1);
  };
  add(second, 1, 24);
  add(second, 1, 7);
  add(first, 0, 20);
  const Trace trace = builder_.Build();
  std::vector<std::pair<int32_t, int64_t>> places;
  for (const DeviceRow& row : MeasureDevices(trace))
    places.emplace_back(row.device, row.stream == TrackId::kNone ? -1 : trace.tracks().tid[Row(row.stream)]);
  const std::vector<std::pair<int32_t, int64_t>> by_number = {{0, -1}, {0, 20}, {1, -1}, {1, 7}, {1, 24}};
  EXPECT_EQ(places, by_number);
}

TEST_F(DevicesTest, LeaveOutAnnotationsAndEverythingThatIsNoWork) {
  const TrackId stream = Stream(0, 7), annotations = Stream(1, 7, TrackKind::kDeviceAnnotation);
  Span(stream, "cuda_sync", 0, 1000);
  Span(annotations, "gpu_user_annotation", 0, 1000);
  const Trace trace = builder_.Build();
  EXPECT_TRUE(MeasureDevices(trace).empty());
}

TEST_F(DevicesTest, KeepDevicesApartAndCountWhatIsSelected) {
  const TrackId first = Stream(0, 7), second = Stream(1, 7);
  Span(first, "kernel", 0, 10);
  Span(first, "kernel", 20, 10);
  Span(second, "kernel", 5, 10);
  const Trace trace = builder_.Build();
  EXPECT_EQ(MeasureDevices(trace).size(), 4u);
  const std::vector<uint8_t> selected = {0, 1, 0};
  const std::vector<DeviceRow> rows = MeasureDevices(trace, {.selected = &selected});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].device, 0);
  EXPECT_EQ(rows[0].window_ns, 10);
}

TEST(Intervals, AreMeasuredAsByCountingEveryMoment) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::vector<Interval> intervals;
    bool covered[64] = {};
    for (uint32_t i = 0; i < random() % 8; ++i) {
      const auto begin = static_cast<int64_t>(random() % 48), end = begin + static_cast<int64_t>(random() % 16);
      intervals.push_back({begin, end});
      std::fill(covered + begin, covered + end, true);
    }
    const UnionLength measured = MeasureUnion(&intervals);
    EXPECT_EQ(measured.covered, std::count(covered, covered + 64, true));
  }
}

}  // namespace
}  // namespace opscope

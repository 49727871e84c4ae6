// SPDX-License-Identifier: Apache-2.0
#include "export/span_lanes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "export/export_for_test.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;

// "main nested: -100(step 0(a ..." is hard to read; one line per edge: "100 ( a".
std::vector<std::string> EdgesOf(const Trace& trace, const SpanLanes& lanes, size_t lane, const ExportTimes& times,
                                 size_t rows_per_block) {
  std::vector<std::string> edges;
  const Lane& of = lanes.lanes()[lane];
  const auto add = [&](Timestamp time, const char* bracket, uint32_t row) {
    edges.push_back(std::to_string(times.At(time)) + bracket + std::string(trace.text(trace.spans().name[row])));
  };
  for (size_t first = of.begin; first < of.end; first += rows_per_block) {
    lanes.ForEachEdge(
        of, first, std::min(first + rows_per_block, of.end),
        [&](uint32_t row) { add(trace.spans().start[row], "(", row); },
        [&](uint32_t row) { add(EndOf(trace.spans(), row), ")", row); });
  }
  return edges;
}

TEST(SpanLanes, PutWhatCrossesOnARowOfItsOwnWithWhatIsBelow) {
  const Trace trace = MakeEverything();
  const ExportTimes times = ChooseTimeBase(trace, INT64_MAX);
  EXPECT_EQ(times.base, Timestamp{-100});
  const SpanLanes lanes(trace, times);
  ASSERT_EQ(lanes.lanes().size(), 5u);
  for (const size_t rows : {1u, 2u, 100u}) {
    EXPECT_THAT(EdgesOf(trace, lanes, 0, times, rows),
                ElementsAre("0(step", "200(a", "200(b", "300)b", "600)a", "1100)step"));
    EXPECT_THAT(EdgesOf(trace, lanes, 1, times, rows), ElementsAre("500(c", "550(d", "560)d", "800)c"));
    EXPECT_THAT(EdgesOf(trace, lanes, 2, times, rows), ElementsAre("400(late", "1300)late"));
  }
  EXPECT_EQ(lanes.lanes()[1].kind, LaneKind::kCrossing);
  EXPECT_EQ(lanes.lanes()[2].kind, LaneKind::kAsync);
  EXPECT_EQ(lanes.crossing_spans(), 1u);
  EXPECT_EQ(lanes.far_spans(), 0u);
}

// Every span once; edges of a lane in order of time and balanced, wherever the blocks are cut.
void ExpectWhole(const Trace& trace, const SpanLanes& lanes, const ExportTimes& times) {
  std::vector<bool> seen(trace.spans().size(), false);
  for (const Lane& lane : lanes.lanes()) {
    uint64_t last = 0;
    std::vector<uint32_t> open;
    for (size_t first = lane.begin; first < lane.end; first += 3) {
      lanes.ForEachEdge(
          lane, first, std::min(first + 3, lane.end),
          [&](uint32_t row) {
            ASSERT_FALSE(seen[row]);
            seen[row] = true;
            ASSERT_LE(last, times.At(trace.spans().start[row]));
            last = times.At(trace.spans().start[row]);
            open.push_back(row);
          },
          [&](uint32_t row) {
            ASSERT_FALSE(open.empty());
            ASSERT_EQ(open.back(), row);
            open.pop_back();
            ASSERT_LE(last, times.At(EndOf(trace.spans(), row)));
            last = times.At(EndOf(trace.spans(), row));
          });
      if (testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(open.empty());
  }
  ASSERT_EQ(static_cast<uint64_t>(std::count(seen.begin(), seen.end(), true)) + lanes.far_spans(), seen.size());
}

TEST(SpanLanes, NestInEveryRandomTrace) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomTables(seed).Make(seed * 3);
    for (const uint64_t most : {uint64_t{INT64_MAX}, (uint64_t{1} << 53) - 1, uint64_t{1000}}) {
      const ExportTimes times = ChooseTimeBase(trace, most);
      ExpectWhole(trace, SpanLanes(trace, times), times);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SpanLanes, OfManySpansThatCrossEachOtherTakeNoSquareOfTime) {
  constexpr int kSpans = 200'000;
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int i = 0; i < kSpans; ++i)
    builder.AddSpan({.start = {i}, .duration = {kSpans}, .name = builder.Intern("x"), .track = track});
  const Trace trace = builder.Build();
  const ExportTimes times = ChooseTimeBase(trace, INT64_MAX);
  const SpanLanes lanes(trace, times);  // hours, were it quadratic
  EXPECT_EQ(lanes.rows().size(), size_t{kSpans});
  EXPECT_EQ(lanes.lanes().size(), size_t{kSpans});
}

TEST(ExportTimes, KeepTheLastWhenNotAllCanBeSaid) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const int64_t now = 1'700'000'000'000'000'000;
  builder.AddSpan({.start = {0}, .duration = {5}, .name = builder.Intern("without a time"), .track = track});
  builder.AddSpan({.start = {now}, .duration = {5}, .name = builder.Intern("now"), .track = track});
  const Trace trace = builder.Build();
  const ExportTimes times = ChooseTimeBase(trace, (uint64_t{1} << 53) - 1);
  const SpanLanes lanes(trace, times);
  ASSERT_EQ(lanes.rows().size(), 1u);
  EXPECT_EQ(trace.text(trace.spans().name[lanes.rows()[0]]), "now");
  EXPECT_EQ(lanes.far_spans(), 1u);
  EXPECT_EQ(ChooseTimeBase(trace, INT64_MAX).base, Timestamp{0}) << "Perfetto's times are those of the Trace";
}

TEST(PartitionIntervals, TakeAsFewRowsAsOverlapsAsk) {
  EXPECT_THAT(PartitionIntervals({{{0}, {10}}, {{5}, {7}}, {{7}, {20}}, {{10}, {11}}}),
              ElementsAre(ElementsAre(0u, 3u), ElementsAre(1u, 2u)));
  EXPECT_TRUE(PartitionIntervals({}).empty());
}

}  // namespace
}  // namespace opscope

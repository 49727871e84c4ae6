// The choice of asynchronous ranges and points against its definition: every row is kept or in one block.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "trace/builder.h"

namespace opscope {
namespace {

Trace TraceWithMarks(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  std::vector<TrackId> tracks = {TrackId::kNone};
  for (int64_t track = 0, count = 1 + below(3); track < count; ++track)
    tracks.push_back(builder.AddTrack({.process = process, .tid = track}));
  const auto any_track = [&] { return tracks[static_cast<size_t>(below(static_cast<int64_t>(tracks.size())))]; };
  for (int64_t i = below(30); i > 0; --i)
    builder.AddAsyncSpan({.start = {below(60)}, .duration = {below(3) == 0 ? 0 : below(30)}, .track = any_track()});
  for (int64_t i = below(30); i > 0; --i)
    builder.AddInstant({.time = {below(60)}, .track = any_track()});
  return builder.Build();
}

struct PlainMark {
  TrackId track;
  int64_t start, end;
};

std::vector<PlainMark> RangesOf(const Trace& trace) {
  std::vector<PlainMark> marks;
  const AsyncSpanColumns& spans = trace.async_spans();
  for (uint32_t i = 0; i < spans.size(); ++i)
    marks.push_back({spans.track[i], spans.start[i].ns, spans.start[i].ns + spans.duration[i].ns});
  return marks;
}

std::vector<PlainMark> PointsOf(const Trace& trace) {
  std::vector<PlainMark> marks;
  for (uint32_t i = 0; i < trace.instants().size(); ++i)
    marks.push_back({trace.instants().track[i], trace.instants().time[i].ns, trace.instants().time[i].ns});
  return marks;
}

// Every mark with a track is kept once or counted by one block around it; lines stay below `lines`.
void ExpectEveryMarkIsThere(const std::vector<PlainMark>& marks, const TimelineMarks& chosen, uint32_t seed) {
  std::map<uint32_t, uint64_t> of_track, expected;
  uint64_t without = 0;
  for (const PlainMark& mark : marks) {
    if (mark.track == TrackId::kNone) {
      ++without;
    } else {
      ++expected[Row(mark.track)];
    }
  }
  std::set<uint32_t> once;
  for (size_t i = 0; i < chosen.kept.size(); ++i) {
    const PlainMark& mark = marks[chosen.kept[i]];
    ASSERT_TRUE(once.insert(chosen.kept[i]).second) << "seed " << seed;
    ASSERT_LT(chosen.line[i], chosen.lines[Row(mark.track)]);
    ++of_track[Row(mark.track)];
  }
  uint64_t folded = 0;
  for (const FoldedSpans& block : chosen.folded) {
    uint64_t inside = 0;
    for (uint32_t i = 0; i < marks.size(); ++i) {
      inside += !once.contains(i) && marks[i].track == TrackId{block.track} && marks[i].start >= block.start_ns &&
                marks[i].end <= block.start_ns + block.duration_ns;
    }
    ASSERT_GE(inside, block.count);
    ASSERT_LT(block.row, chosen.lines[block.track]);
    of_track[block.track] += block.count;
    folded += block.count;
  }
  ASSERT_EQ(folded, chosen.folded_count);
  ASSERT_EQ(of_track, expected) << "seed " << seed;
  ASSERT_EQ(chosen.without_track, without);
}

TEST(TimelineMarks, EveryRangeAndEveryPointIsKeptOrInABlock) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Trace trace = TraceWithMarks(seed);
    for (const size_t most : {size_t{0}, size_t{1}, size_t{4}, SIZE_MAX}) {
      const TimelineMarks ranges = ChooseAsyncRanges(trace, {.max_kept = most, .max_blocks = 3});
      ExpectEveryMarkIsThere(RangesOf(trace), ranges, seed);
      ASSERT_LE(ranges.kept.size(), most);
      ASSERT_LE(ranges.folded.size(), 3u);  // there are at most three tracks
      const TimelineMarks points = ChooseInstants(trace, {.max_kept = most});
      ExpectEveryMarkIsThere(PointsOf(trace), points, seed);
      ASSERT_LE(points.kept.size() + points.folded.size(), std::max(most, size_t{3}));
      ASSERT_TRUE(most < SIZE_MAX || points.folded.size() + ranges.folded.size() == 0);
    }
  }
}

TEST(TimelineMarks, KeepTheLongestRanges) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Trace trace = TraceWithMarks(seed);
    const std::vector<PlainMark> marks = RangesOf(trace);
    const TimelineMarks chosen = ChooseAsyncRanges(trace, {.max_kept = 4});
    int64_t least = INT64_MAX;
    for (const uint32_t row : chosen.kept)
      least = std::min(least, marks[row].end - marks[row].start);
    for (uint32_t row = 0; row < marks.size(); ++row) {
      const bool is_kept = std::find(chosen.kept.begin(), chosen.kept.end(), row) != chosen.kept.end();
      ASSERT_TRUE(is_kept || marks[row].track == TrackId::kNone || marks[row].end - marks[row].start <= least);
    }
  }
}

TEST(TimelineMarks, RangesOfALineDoNotOverlap) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Trace trace = TraceWithMarks(seed);
    const std::vector<PlainMark> marks = RangesOf(trace);
    const TimelineMarks chosen = ChooseAsyncRanges(trace);
    for (size_t a = 0; a < chosen.kept.size(); ++a) {
      for (size_t b = a + 1; b < chosen.kept.size(); ++b) {
        const PlainMark &one = marks[chosen.kept[a]], &other = marks[chosen.kept[b]];
        if (one.track != other.track || chosen.line[a] != chosen.line[b]) continue;
        ASSERT_LE(one.end, other.start) << "seed " << seed;
      }
    }
  }
}

TEST(TimelineMarks, FoldThePointsThatStandClosestTogether) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const int64_t time : {1, 2, 3, 10, 20, 21})
    builder.AddInstant({.time = {time}, .track = track});
  const TimelineMarks points = ChooseInstants(builder.Build(), {.max_kept = 3});
  EXPECT_EQ(points.kept, (std::vector<uint32_t>{3}));
  ASSERT_EQ(points.folded.size(), 2u);
  EXPECT_EQ(std::tuple(points.folded[0].start_ns, points.folded[0].duration_ns, points.folded[0].count),
            std::tuple(1, 2, 3u));
  EXPECT_EQ(std::tuple(points.folded[1].start_ns, points.folded[1].duration_ns, points.folded[1].count),
            std::tuple(20, 1, 2u));
}

TEST(TimelineMarks, AreEmptyWithoutRows) {
  const Trace trace = TraceBuilder().Build();
  EXPECT_TRUE(ChooseAsyncRanges(trace).kept.empty());
  EXPECT_TRUE(ChooseInstants(trace).kept.empty());
}

TEST(TimelineMarks, FarMoreThanTheLinesShareTheLastLine) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int64_t i = 0; i < 200; ++i)
    builder.AddAsyncSpan({.start = {i}, .duration = {1000}, .track = track});
  const TimelineMarks ranges = ChooseAsyncRanges(builder.Build());
  EXPECT_EQ(ranges.lines[0], 64u);
  EXPECT_EQ(*std::max_element(ranges.line.begin(), ranges.line.end()), 63u);
}

}  // namespace
}  // namespace opscope

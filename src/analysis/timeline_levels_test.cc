// The choice of spans against the definition: the longest spans and all around them, every other span in one block.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "trace/builder.h"

namespace opscope {
namespace {

struct LevelSpan {
  int64_t start, duration;
  uint32_t track;
};

Trace TraceOfLevels(const std::vector<LevelSpan>& spans, uint32_t tracks) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  std::vector<TrackId> ids;
  for (uint32_t track = 0; track < tracks; ++track)
    ids.push_back(builder.AddTrack({.process = process, .tid = track}));
  for (const LevelSpan& span : spans)
    builder.AddSpan({.start = {span.start}, .duration = {span.duration}, .track = ids[span.track]});
  return builder.Build();
}

Trace RandomLevelsTrace(uint32_t seed, uint32_t tracks) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  std::vector<LevelSpan> spans;
  for (int64_t i = below(60); i >= 0; --i)
    spans.push_back({below(200), below(3) == 0 ? below(3) : below(100), static_cast<uint32_t>(below(tracks))});
  return TraceOfLevels(spans, tracks);
}

// Length of the longest span at or below each span.
std::vector<int64_t> LongestInside(const Trace& trace) {
  const SpanColumns& spans = trace.spans();
  std::vector<int64_t> longest(spans.size(), 0);
  for (uint32_t span = 0; span < spans.size(); ++span) {
    for (SpanId at{span}; at != SpanId::kNone; at = spans.parent[Row(at)])
      longest[Row(at)] = std::max(longest[Row(at)], spans.duration[span].ns);
  }
  return longest;
}

void ExpectEverySpanIsThere(const Trace& trace, const TimelineLevels& levels) {
  std::map<uint32_t, uint64_t> of_track;
  for (const uint32_t span : levels.kept)
    ++of_track[Row(trace.spans().track[span])];
  uint64_t folded = 0;
  for (const FoldedSpans& block : levels.folded) {
    EXPECT_GE(block.count, 1u);
    of_track[block.track] += block.count;
    folded += block.count;
  }
  EXPECT_EQ(folded, levels.folded_spans);
  for (uint32_t span = 0; span < trace.spans().size(); ++span) {
    if (std::binary_search(levels.kept.begin(), levels.kept.end(), span)) continue;
    if (std::binary_search(levels.tracks.begin(), levels.tracks.end(), Row(trace.spans().track[span]))) {
      EXPECT_LE(trace.spans().duration[span].ns, levels.longest_folded_ns);
    }
  }
  for (const uint32_t track : levels.tracks)
    EXPECT_EQ(of_track[track], trace.tracks().span_count[track]);
  EXPECT_EQ(levels.kept.size() + folded + levels.left_out_spans, trace.spans().size());
}

TEST(TimelineLevels, KeepTheLongestAndFoldTheOthers) {
  const Trace trace = TraceOfLevels({{0, 100, 0}, {0, 60, 0}, {1, 3, 0}, {6, 2, 0}, {60, 30, 0}}, 1);
  const TimelineLevels levels = TimelineSpans(trace).Choose({.max_spans = 3, .max_blocks = 1});
  EXPECT_EQ(levels.kept, (std::vector<uint32_t>{0, 1, 4}));
  EXPECT_EQ(levels.row, (std::vector<uint32_t>{0, 1, 1}));
  EXPECT_EQ(levels.covered_ns, (std::vector<int64_t>{90, 5, 0}));
  ASSERT_EQ(levels.folded.size(), 1u);
  const FoldedSpans& block = levels.folded[0];
  EXPECT_EQ(std::tuple(block.track, block.row, block.start_ns, block.duration_ns, block.count),
            std::tuple(0u, 2u, 1, 7, 2u));
}

TEST(TimelineLevels, AreThoseOfTheDefinition) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    const uint32_t tracks = 1 + seed % 3;
    const Trace trace = RandomLevelsTrace(seed, tracks);
    const size_t all = trace.spans().size(), most = seed % (all + 2);
    const TimelineLevels levels = TimelineSpans(trace).Choose({.max_spans = most, .max_blocks = 1 + seed % 7});
    std::vector<uint32_t> order(all);
    std::iota(order.begin(), order.end(), 0u);
    const std::vector<int64_t> longest = LongestInside(trace);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return longest[a] > longest[b]; });
    order.resize(std::min(all, most));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(levels.kept, order);
    ExpectEverySpanIsThere(trace, levels);
    const std::set<uint32_t> kept(order.begin(), order.end());
    for (const uint32_t span : order) {
      const SpanId parent = trace.spans().parent[span];
      EXPECT_TRUE(parent == SpanId::kNone || kept.contains(Row(parent)));
    }
  }
}

TEST(TimelineLevels, BlocksStayWithinTheirNumberAndHoldTheirSpans) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomLevelsTrace(seed, 2);
    for (const size_t most : {1u, 2u, 5u, 20u}) {
      const TimelineLevels levels = TimelineSpans(trace).Choose({.max_spans = 3, .max_blocks = most});
      EXPECT_LE(levels.folded.size(), std::max(most, levels.tracks.size()));
      ExpectEverySpanIsThere(trace, levels);
      for (uint32_t span = 0; span < trace.spans().size(); ++span) {
        if (std::binary_search(levels.kept.begin(), levels.kept.end(), span)) continue;
        const int64_t start = trace.spans().start[span].ns, end = start + trace.spans().duration[span].ns;
        EXPECT_TRUE(std::any_of(levels.folded.begin(), levels.folded.end(), [&](const FoldedSpans& block) {
          return TrackId{block.track} == trace.spans().track[span] && block.start_ns <= start &&
                 end <= block.start_ns + block.duration_ns;
        }));
      }
    }
  }
}

TEST(TimelineLevels, LeaveOutTheTracksWithTheFewestSpans) {
  const Trace trace = TraceOfLevels({{0, 1, 0}, {0, 1, 1}, {5, 1, 1}, {0, 1, 2}, {5, 1, 2}, {9, 1, 2}}, 3);
  const TimelineLevels levels = TimelineSpans(trace).Choose({.max_tracks = 2});
  EXPECT_EQ(levels.tracks, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(levels.left_out_tracks, 1u);
  EXPECT_EQ(levels.left_out_spans, 1u);
  EXPECT_EQ(levels.kept.size(), 5u);
}

TEST(TimelineLevels, TakeTimesAtTheEndOfTheScale) {
  const Trace trace = TraceOfLevels({{INT64_MIN, INT64_MAX, 0}, {INT64_MAX, INT64_MAX, 0}, {0, 0, 0}}, 1);
  for (size_t most = 0; most < 4; ++most)
    ExpectEverySpanIsThere(trace, TimelineSpans(trace).Choose({.max_spans = most, .max_blocks = 1}));
}

TEST(TimelineLevels, OfATraceWithoutSpansAreEmpty) {
  const Trace trace;
  const TimelineLevels levels = TimelineSpans(trace).Choose({});
  EXPECT_TRUE(levels.kept.empty() && levels.folded.empty() && levels.tracks.empty());
}

}  // namespace
}  // namespace opscope

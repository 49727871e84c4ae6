// What a window of the timeline shows: each overlapping span once, long ones by name, blocks no closer than a pixel.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/timeline_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analysis/random_trace_for_test.h"
#include "trace/builder.h"

namespace opscope {
namespace {

TEST(TimelineWindow, KeepsLongSpansAndLoneOnesAndFoldsTheOthers) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const auto& [start, duration] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 30}, {31, 1}, {33, 2}, {60, 1}, {100, 0}, {200, 5}})
    builder.AddSpan({.start = {start}, .duration = {duration}, .name = builder.Intern("s"), .track = track});
  const Trace trace = builder.Build();
  const TimelineSpans spans(trace);
  const TimelineLevels levels = TimelineWindow(trace, spans, {.begin_ns = 0, .end_ns = 200, .pixels = 20});
  EXPECT_EQ(levels.kept, (std::vector<uint32_t>{0, 3, 4}));
  ASSERT_EQ(levels.folded.size(), 1u);
  EXPECT_EQ(levels.folded[0].start_ns, 31);
  EXPECT_EQ(levels.folded[0].duration_ns, 4);
  EXPECT_EQ(levels.folded[0].count, 2u);
  EXPECT_EQ(levels.folded_spans, 2u);
  EXPECT_EQ(levels.gap_ns, 10);
  EXPECT_TRUE(TimelineWindow(trace, spans, {.begin_ns = 5, .end_ns = 5}).kept.empty());
}

TEST(TimelineWindow, HoldsEachSpanOfTheRangeOnceOnRandomTraces) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Trace trace = RandomTrace(seed, {.spans = static_cast<int>(seed % 40), .threads = 3, .end = 60});
    const TimelineSpans spans(trace);
    const auto begin = static_cast<int64_t>(seed % 23), end = begin + 1 + static_cast<int64_t>(seed % 31);
    const auto pixels = static_cast<uint32_t>(1 + seed % 9);
    const TimelineLevels levels = TimelineWindow(trace, spans, {.begin_ns = begin, .end_ns = end, .pixels = pixels});
    const int64_t pixel = std::max<int64_t>(1, (end - begin) / pixels);
    size_t overlapping = 0;
    std::map<std::pair<uint32_t, uint32_t>, std::vector<FoldedSpans>> lines;
    for (const FoldedSpans& block : levels.folded)
      lines[{block.track, block.row}].push_back(block);
    for (uint32_t row = 0; row < trace.spans().size(); ++row) {
      const int64_t start = trace.spans().start[row].ns, duration = trace.spans().duration[row].ns;
      const bool overlaps = duration == 0 ? start >= begin && start < end : start < end && start + duration > begin;
      const bool is_kept = std::binary_search(levels.kept.begin(), levels.kept.end(), row);
      overlapping += overlaps;
      ASSERT_TRUE(overlaps || !is_kept) << "seed " << seed;
      ASSERT_TRUE(is_kept || !overlaps || duration < pixel) << "seed " << seed;
      if (!overlaps || is_kept) continue;
      const auto& blocks = lines[{Row(trace.spans().track[row]), spans.RowOf(row)}];
      ASSERT_TRUE(std::any_of(blocks.begin(), blocks.end(),
                              [&](const FoldedSpans& block) {
                                return block.start_ns <= start &&
                                       start + duration <= block.start_ns + block.duration_ns;
                              }))
          << "seed " << seed;
    }
    ASSERT_EQ(overlapping, levels.kept.size() + levels.folded_spans) << "seed " << seed;
    for (const auto& [line, blocks] : lines) {
      for (size_t i = 1; i < blocks.size(); ++i)
        ASSERT_GE(blocks[i].start_ns - (blocks[i - 1].start_ns + blocks[i - 1].duration_ns), pixel);
    }
  }
}

TEST(TimelineWindow, StaysBelowItsMostItems) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int64_t i = 0; i < 20'000; ++i)
    builder.AddSpan({.start = {10 * i}, .duration = {5}, .name = builder.Intern("s"), .track = track});
  const Trace trace = builder.Build();
  const TimelineSpans spans(trace);
  const TimelineLevels levels =
      TimelineWindow(trace, spans, {.begin_ns = 0, .end_ns = 200'000, .pixels = 1'000'000, .max_items = 100});
  EXPECT_LE(levels.kept.size() + levels.folded.size(), 100u);
  EXPECT_EQ(levels.kept.size() + levels.folded_spans, 20'000u);
}

}  // namespace
}  // namespace opscope

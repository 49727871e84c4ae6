// Matches of a name in the order of the timeline, against a sorted list of them all.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/find_spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "analysis/random_trace_for_test.h"
#include "trace/builder.h"

namespace opscope {
namespace {

TEST(SpanSearch, IgnoresCase) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const char* name : {"aten::ReLU_", "Größe", "relu", "mm"})
    builder.AddSpan({.start = {1}, .duration = {1}, .name = builder.Intern(name), .track = track});
  const Trace trace = builder.Build();
  EXPECT_EQ(SpanSearch(trace, "RELU").count(), 2u);
  EXPECT_EQ(SpanSearch(trace, "GRÖß").count(), 1u);
  EXPECT_EQ(SpanSearch(trace, "").count(), 0u);
  EXPECT_EQ(SpanSearch(trace, "nothing").Around({}).count, 0u);
  EXPECT_EQ(SpanSearch(Trace(), "a").Around({}).count, 0u);
}

// The contract's order, sorted as it says.
std::vector<uint32_t> SortedMatches(const Trace& trace, char letter) {
  const SpanColumns& spans = trace.spans();
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < spans.size(); ++row)
    if (trace.text(spans.name[row])[0] == letter) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(spans.start[a].ns, Row(spans.track[a]), a) <
           std::tuple(spans.start[b].ns, Row(spans.track[b]), b);
  });
  return rows;
}

TEST(SpanSearch, WalksThroughTheMatchesInOrderAndWrapsAround) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Trace trace = RandomTrace(seed, {.spans = static_cast<int>(seed % 25), .threads = 3});
    const SpanSearch search(trace, "A");
    const std::vector<uint32_t> sorted = SortedMatches(trace, 'a');
    ASSERT_EQ(search.count(), sorted.size());
    if (sorted.empty()) continue;
    const SpanMatches at_first = search.Around({});
    ASSERT_EQ(at_first.next, sorted.front());
    ASSERT_EQ(at_first.previous, sorted.back());
    for (uint32_t row = 0; row < trace.spans().size(); ++row) {
      const SpanPlace place{trace.spans().start[row].ns, row};
      const auto is_before = [&](uint32_t match) { return SpanPlace{trace.spans().start[match].ns, match} < place; };
      const size_t before = static_cast<size_t>(std::count_if(sorted.begin(), sorted.end(), is_before));
      const bool is_match = trace.text(trace.spans().name[row]) == "a";
      const size_t after = before + is_match;
      const SpanMatches matches = search.Around(place);
      ASSERT_EQ(matches.is_match, is_match);
      ASSERT_EQ(matches.before, before);
      ASSERT_EQ(matches.next, sorted[after < sorted.size() ? after : 0]) << "seed " << seed << " row " << row;
      ASSERT_EQ(matches.previous, sorted[before > 0 ? before - 1 : sorted.size() - 1]);
    }
  }
}

TEST(SpanSearch, FindsTheShortestOfAMillionSpans) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId name = builder.Intern("usual"), wanted = builder.Intern("needle");
  for (int64_t i = 0; i < 1'000'000; ++i)
    builder.AddSpan(
        {.start = {10 * i}, .duration = {i == 765'432 ? 1 : 9}, .name = i == 765'432 ? wanted : name, .track = track});
  const Trace trace = builder.Build();
  const SpanMatches matches = SpanSearch(trace, "NEEDLE").Around(SpanPlace{.start_ns = 9'000'000});
  EXPECT_EQ(matches.count, 1u);
  EXPECT_EQ(matches.next, 765'432u);
  EXPECT_EQ(matches.previous, 765'432u);
}

}  // namespace
}  // namespace opscope

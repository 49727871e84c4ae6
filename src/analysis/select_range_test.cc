// The sums of a range of time, against the definition followed nanosecond by nanosecond.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/select_range.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/random_trace_for_test.h"
#include "opscope/analysis/op_summary.h"
#include "trace/builder.h"

namespace opscope {
namespace {

struct Sums {
  uint64_t count = 0;
  int64_t total = 0, self = 0;
  bool operator==(const Sums&) const = default;
};
using SumsByName = std::map<std::string, Sums>;

SumsByName ByName(const Trace& trace, const std::vector<SelectedName>& rows) {
  SumsByName sums;
  for (const SelectedName& row : rows)
    sums[std::string(trace.text(row.name))] = {row.count, row.total_with_recursion_ns, row.self_ns};
  EXPECT_EQ(sums.size(), rows.size());
  return sums;
}

// Of the spans with this parent on this track, the last one that has begun by `moment` and lasts; inside it likewise.
// Returns the innermost span, or `parent` where no span is open.
size_t OwnerOf(const Trace& trace, uint32_t track, size_t parent, int64_t begin, int64_t end, int64_t moment) {
  const SpanColumns& spans = trace.spans();
  size_t last = SIZE_MAX;
  for (size_t row = 0; row < spans.size(); ++row) {
    const size_t around = spans.parent[row] == SpanId::kNone ? SIZE_MAX : Row(spans.parent[row]);
    const bool is_async = (spans.flags[row] & span_flags::kAsync) != 0;
    if (Row(spans.track[row]) == track && !is_async && around == parent && spans.start[row].ns <= moment) last = row;
  }
  if (last == SIZE_MAX) return parent;
  const int64_t first = std::max(begin, spans.start[last].ns);
  const int64_t behind = std::min(end, spans.start[last].ns + spans.duration[last].ns);
  return moment < behind ? OwnerOf(trace, track, last, first, behind, moment) : parent;
}

SumsByName BruteForceSums(const Trace& trace, int64_t begin, int64_t end) {
  const SpanColumns& spans = trace.spans();
  SumsByName sums;
  const auto of = [&](size_t row) -> Sums& { return sums[std::string(trace.text(spans.name[row]))]; };
  for (size_t row = 0; row < spans.size(); ++row) {
    int64_t inside = 0;
    bool counts = spans.duration[row].ns == 0 && spans.start[row].ns >= begin && spans.start[row].ns < end;
    for (int64_t moment = begin; moment < end; ++moment) {
      if (moment < spans.start[row].ns || moment >= spans.start[row].ns + spans.duration[row].ns) continue;
      counts = true;
      ++inside;
    }
    if (!counts) continue;
    ++of(row).count;
    of(row).total += inside;
    if ((spans.flags[row] & span_flags::kAsync) != 0) of(row).self += inside;
  }
  for (uint32_t track = 0; track < trace.tracks().size(); ++track) {
    for (int64_t moment = begin; moment < end; ++moment) {
      const size_t owner = OwnerOf(trace, track, SIZE_MAX, INT64_MIN, INT64_MAX, moment);
      if (owner != SIZE_MAX) ++of(owner).self;
    }
  }
  return sums;
}

TEST(SelectRange, ClipsTotalAndSelfTimeToTheRange) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddSpan({.start = {0}, .duration = {100}, .name = builder.Intern("outer"), .track = track});
  builder.AddSpan({.start = {40}, .duration = {20}, .name = builder.Intern("inner"), .track = track});
  const Trace trace = builder.Build();
  const SumsByName expected{{"outer", {1, 30, 20}}, {"inner", {1, 10, 10}}};
  EXPECT_EQ(ByName(trace, SelectRange(trace, 50, 80)), expected);
  EXPECT_EQ(trace.text(SelectRange(trace, 50, 80)[0].name), "outer");
}

TEST(SelectRange, CountsASpanOfLengthZeroWhereItBegins) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddSpan({.start = {5}, .duration = {0}, .name = builder.Intern("mark"), .track = track});
  const Trace trace = builder.Build();
  const SumsByName one{{"mark", {1, 0, 0}}};
  EXPECT_EQ(ByName(trace, SelectRange(trace, 5, 6)), one);
  EXPECT_EQ(ByName(trace, SelectRange(trace, 0, 9)), one);
  EXPECT_TRUE(SelectRange(trace, 0, 5).empty());
  EXPECT_TRUE(SelectRange(trace, 6, 9).empty());
  EXPECT_TRUE(SelectRange(trace, 5, 5).empty());
  EXPECT_TRUE(SelectRange(trace, 9, 2).empty());
}

TEST(SelectRange, IsTheDefinitionOnRandomTraces) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Trace trace =
        RandomTrace(seed, {.spans = static_cast<int>(seed % 20), .threads = 2, .has_device = seed % 3 == 0});
    const int64_t begin = static_cast<int64_t>(seed % 11) - 1;
    const int64_t end = begin + static_cast<int64_t>(seed % 7) + 1;
    ASSERT_EQ(ByName(trace, SelectRange(trace, begin, end)), BruteForceSums(trace, begin, end)) << "seed " << seed;
  }
}

TEST(SelectRange, OfTheWholeTraceIsTheSummary) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId track = builder.AddTrack({.process = process, .tid = 1});
  for (int64_t i = 0; i < 200'000; ++i) {
    const int64_t level = i % 4;
    builder.AddSpan({.start = {i - i % 4 * 1},
                     .duration = {100 - 20 * level},
                     .name = builder.Intern("level " + std::to_string(level)),
                     .track = track});
  }
  const Trace trace = builder.Build();
  SumsByName expected;
  for (const OpSummaryRow& row : SummarizeOps(trace).rows)
    expected[std::string(trace.text(row.name))] = {row.count, row.total_with_recursion_ns, row.self_ns};
  for (const uint32_t threads : {1u, 4u})
    EXPECT_EQ(ByName(trace, SelectRange(trace, -10, 1'000'000, threads)), expected);
  const std::vector<SelectedName> half = SelectRange(trace, 99'990, 100'010, 1);
  EXPECT_EQ(ByName(trace, half), ByName(trace, SelectRange(trace, 99'990, 100'010, 4)));
}

TEST(SelectRange, SaturatesAtTheEndsOfTime) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int i = 0; i < 3; ++i)
    builder.AddSpan(
        {.start = {INT64_MIN + i}, .duration = {INT64_MAX}, .name = builder.Intern("long"), .track = track});
  const Trace trace = builder.Build();
  const std::vector<SelectedName> rows = SelectRange(trace, INT64_MIN, INT64_MAX);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3u);
  EXPECT_EQ(rows[0].total_with_recursion_ns, INT64_MAX);
  EXPECT_TRUE(SelectRange(Trace(), INT64_MIN, INT64_MAX).empty());
}

// Texts of a file may stand in a damaged block.
TEST(SelectRange, TakesAnUnknownNameForTheEmptyOne) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (const StringId name : {StringId::kNone, StringId::kEmpty})
    builder.AddSpan({.start = {Row(name) == 0 ? 0 : 50}, .duration = {40}, .name = name, .track = track});
  const Trace trace = builder.Build();
  EXPECT_EQ(ByName(trace, SelectRange(trace, 0, 100)), (SumsByName{{"", {2, 80, 80}}}));
}

}  // namespace
}  // namespace opscope

// Times add up: on random forests of spans, against what the definitions say when they are followed instant by instant.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "opscope/analysis/flame.h"
#include "opscope/analysis/op_summary.h"
#include "trace/builder.h"

namespace opscope {
namespace {

struct ForestSpan {
  int64_t start = 0, duration = 0;
  int thread = 0;
  bool is_async = false;
  int64_t end() const { return start + duration; }
};

std::vector<ForestSpan> RandomForest(std::mt19937_64* random) {
  const auto below = [&](uint64_t limit) { return static_cast<int64_t>((*random)() % limit); };
  std::vector<ForestSpan> forest;
  const bool crosses = below(2) == 0;
  for (int64_t count = below(14) + 1; count > 0; --count) {
    ForestSpan span{
        .start = below(40), .duration = below(24), .thread = static_cast<int>(below(2)), .is_async = below(6) == 0};
    const auto crossing = [&](const ForestSpan& other) {
      return other.thread == span.thread && !other.is_async &&
             ((other.start < span.start && span.start < other.end() && other.end() < span.end()) ||
              (span.start < other.start && other.start < span.end() && span.end() < other.end()));
    };
    if (!crosses && !span.is_async && std::any_of(forest.begin(), forest.end(), crossing)) continue;
    forest.push_back(span);
  }
  return forest;
}

// Every span has a name of its own, so that a row of the summary is a span.
Trace Build(const std::vector<ForestSpan>& forest, bool with_async, bool beside) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId threads[] = {builder.AddTrack({.process = process, .tid = 1}),
                             builder.AddTrack({.process = process, .tid = 2})};
  for (const TrackId thread : threads)
    if (beside) builder.SetCrossing(thread);
  for (size_t i = 0; i < forest.size(); ++i) {
    if (forest[i].is_async && !with_async) continue;
    builder.AddSpan({.start = {forest[i].start},
                     .duration = {forest[i].duration},
                     .name = builder.Intern(std::to_string(i)),
                     .track = threads[forest[i].thread],
                     .flags = forest[i].is_async ? span_flags::kAsync : uint8_t{0}});
  }
  return builder.Build();
}

std::map<std::string, int64_t> SelfTimes(const Trace& trace) {
  std::map<std::string, int64_t> self;
  for (const OpSummaryRow& row : SummarizeOps(trace).rows)
    self[std::string(trace.text(row.name))] = row.self_ns;
  return self;
}

// Of one thread: each instant that any span covers is the self time of one, the last to begin of those that are open.
struct Obvious {
  std::map<std::string, int64_t> self;
  int64_t open = 0;      // instants that any span covers
  int64_t clipped = 0;   // likewise, of spans that end where what they lie in ends
  bool crosses = false;  // a span outlives what it lies in
};

Obvious Reckon(const std::vector<ForestSpan>& forest, int thread, bool beside) {
  std::vector<size_t> sorted;
  for (size_t i = 0; i < forest.size(); ++i)
    if (forest[i].thread == thread && !forest[i].is_async) sorted.push_back(i);
  std::stable_sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
    return forest[a].start != forest[b].start ? forest[a].start < forest[b].start
                                              : forest[a].duration > forest[b].duration;
  });
  Obvious result;
  std::vector<int64_t> end;  // where none is clipped a span stands beside what it crosses, and ends it
  for (size_t i = 0; i < sorted.size(); ++i) {
    const ForestSpan& span = forest[sorted[i]];
    result.self[std::to_string(sorted[i])] = 0;
    end.push_back(span.end());
    for (size_t j = 0; j < i; ++j) {
      if (end[j] <= span.start || end[j] >= end[i]) continue;
      result.crosses = true;
      if (!beside) end[i] = end[j];
    }
  }
  for (int64_t instant = 0; instant < 64; ++instant) {
    size_t last = sorted.size();
    bool is_open = false;
    for (size_t i = 0; i < sorted.size(); ++i) {
      const ForestSpan& span = forest[sorted[i]];
      is_open |= span.start <= instant && instant < span.end();
      if (span.start <= instant && instant < end[i]) last = i;
    }
    if (is_open) ++result.open;
    if (last == sorted.size()) continue;
    ++result.clipped;
    ++result.self[std::to_string(sorted[last])];
  }
  return result;
}

TEST(SelfTimes, SumUpToAtMostTheTimeInWhichAnySpanIsOpen) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t nested = 0, crossing = 0, lacking = 0;
  for (int round = 0; round < 20'000 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::vector<ForestSpan> forest = RandomForest(&random);
    const bool beside = round % 2 == 1;
    const Trace trace = Build(forest, true, beside);
    const std::map<std::string, int64_t> self = SelfTimes(trace);
    for (const auto& [name, time] : self) {
      const ForestSpan& span = forest[std::stoul(name)];
      EXPECT_TRUE(!span.is_async || time == span.duration);
    }
    for (int thread = 0; thread < 2; ++thread) {
      const Obvious obvious = Reckon(forest, thread, beside);
      int64_t sum = 0;
      for (const auto& [name, time] : obvious.self) {
        EXPECT_EQ(self.at(name), time) << name;
        sum += self.at(name);
      }
      EXPECT_EQ(sum, obvious.clipped);
      EXPECT_LE(sum, obvious.open);
      if (beside || !obvious.crosses) {
        EXPECT_EQ(sum, obvious.open);
      }
      lacking += sum < obvious.open ? 1 : 0;
      ++(obvious.crosses ? crossing : nested);
    }
    EXPECT_EQ(SelfTimes(trace), self) << "asking changes nothing";
    for (const auto& [name, time] : SelfTimes(Build(forest, false, beside)))
      EXPECT_EQ(self.at(name), time) << "asynchronous spans take nothing from others";
  }
  EXPECT_GT(nested, 10'000u);
  EXPECT_GT(crossing, 2'000u);
  EXPECT_GT(lacking, 500u);
}

TEST(SelfTimes, LackWhatASpanHasBehindTheEndOfItsParent) {
  const std::vector<ForestSpan> crossing = {{.start = 0, .duration = 10}, {.start = 5, .duration = 10}};
  EXPECT_EQ(SelfTimes(Build(crossing, true, false)), (std::map<std::string, int64_t>{{"0", 5}, {"1", 5}}));
  EXPECT_EQ(SelfTimes(Build(crossing, true, true)), (std::map<std::string, int64_t>{{"0", 5}, {"1", 10}}));
}

// The depths are known and no time was compared, as in a recording.
TEST(SelfTimes, EndWhereTheNextSpanBesideBegins) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* name, int64_t start, int64_t end, uint16_t depth) {
    builder.AddSpan(
        {.start = {start}, .duration = {end - start}, .name = builder.Intern(name), .track = track, .depth = depth});
  };
  add("a", 0, 10, 0);
  add("b", 2, 6, 1);
  add("b2", 3, 5, 2);
  add("c", 4, 8, 1);
  add("d", 9, 14, 0);
  builder.SetPreOrdered(track);
  EXPECT_EQ(SelfTimes(builder.Build()),
            (std::map<std::string, int64_t>{{"a", 9 - 6}, {"b", 1}, {"b2", 1}, {"c", 4}, {"d", 5}}));
}

TEST(SelfTimes, OfSpansThatCrossAreClippedInSummaryAndFlameGraph) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const auto add = [&](const char* name, int64_t start, int64_t duration) {
    builder.AddSpan({.start = {start}, .duration = {duration}, .name = builder.Intern(name), .track = track});
  };
  add("a", 0, 10'000);
  add("b", 2'000, 4'000);
  add("c", 4'000, 4'000);
  add("d", 7'000, 500);
  const Trace trace = builder.Build();
  EXPECT_EQ(SelfTimes(trace), (std::map<std::string, int64_t>{{"a", 5'500}, {"b", 2'000}, {"c", 2'000}, {"d", 500}}));
  std::map<std::string_view, int64_t> drawn;
  for (const FlameNode& node : FoldSpans(trace).nodes)
    drawn[node.name] = node.total;
  EXPECT_EQ(drawn, (std::map<std::string_view, int64_t>{
                       {"all", 10'000}, {"a", 10'000}, {"b", 4'000}, {"c", 2'000}, {"d", 500}}));
  for (const OpSummaryRow& row : SummarizeOps(trace).rows)
    EXPECT_TRUE(trace.text(row.name) != "c" || row.total_ns == 4'000) << "durations stay";
}

}  // namespace
}  // namespace opscope

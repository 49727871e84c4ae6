// Times add up: on random forests of spans, against what the definitions say when they are followed instant by instant.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "opscope/analysis/op_summary.h"
#include "trace/builder.h"

namespace opscope {
namespace {

struct Interval {
  int64_t start = 0, duration = 0;
  int thread = 0;
  bool is_async = false;
  int64_t end() const { return start + duration; }
};

std::vector<Interval> RandomForest(std::mt19937_64* random) {
  const auto below = [&](uint64_t limit) { return static_cast<int64_t>((*random)() % limit); };
  std::vector<Interval> forest;
  const bool crosses = below(2) == 0;
  for (int64_t count = below(14) + 1; count > 0; --count) {
    Interval span{
        .start = below(40), .duration = below(24), .thread = static_cast<int>(below(2)), .is_async = below(6) == 0};
    const auto crossing = [&](const Interval& other) {
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
Trace Build(const std::vector<Interval>& forest, bool with_async) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId threads[] = {builder.AddTrack({.process = process, .tid = 1}),
                             builder.AddTrack({.process = process, .tid = 2})};
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

// Of one thread: instants that a root covers, and nanoseconds by which spans outlive what they lie in.
struct Obvious {
  int64_t union_of_roots = 0, overhang = 0;
};

Obvious Reckon(const std::vector<Interval>& forest, int thread) {
  std::vector<Interval> sorted;
  for (const Interval& span : forest)
    if (span.thread == thread && !span.is_async) sorted.push_back(span);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.duration > b.duration;
  });
  Obvious result;
  std::set<int64_t> covered;
  std::vector<int64_t> end;  // for nesting: no later than that of the parent
  for (size_t i = 0; i < sorted.size(); ++i) {
    int64_t parent_end = INT64_MAX;
    for (size_t j = 0; j < i; ++j)
      if (sorted[j].start <= sorted[i].start && sorted[i].start < end[j]) parent_end = end[j];
    end.push_back(std::min(sorted[i].end(), parent_end));
    result.overhang += sorted[i].end() - end[i];
    if (parent_end != INT64_MAX) continue;
    for (int64_t instant = sorted[i].start; instant < sorted[i].end(); ++instant)
      covered.insert(instant);
  }
  result.union_of_roots = static_cast<int64_t>(covered.size());
  return result;
}

TEST(SelfTimes, SumUpToTheUnionOfTheRoots) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t nested = 0, crossing = 0;
  for (int round = 0; round < 20'000 && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::vector<Interval> forest = RandomForest(&random);
    const Trace trace = Build(forest, true);
    const std::map<std::string, int64_t> self = SelfTimes(trace);
    int64_t sums[2] = {};
    for (const auto& [name, time] : self) {
      EXPECT_GE(time, 0);
      const Interval& span = forest[std::stoul(name)];
      if (!span.is_async) sums[span.thread] += time;
      EXPECT_TRUE(!span.is_async || time == span.duration);
    }
    for (int thread = 0; thread < 2; ++thread) {
      const Obvious obvious = Reckon(forest, thread);
      EXPECT_EQ(sums[thread], obvious.union_of_roots + obvious.overhang);
      ++(obvious.overhang == 0 ? nested : crossing);
    }
    EXPECT_EQ(SelfTimes(trace), self) << "asking changes nothing";
    for (const auto& [name, time] : SelfTimes(Build(forest, false)))
      EXPECT_EQ(self.at(name), time) << "asynchronous spans take nothing from others";
  }
  EXPECT_GT(nested, 10'000u);
  EXPECT_GT(crossing, 2'000u);
}

}  // namespace
}  // namespace opscope

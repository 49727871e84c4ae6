// SPDX-License-Identifier: Apache-2.0
#include "job/summary_of_ranks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// A trace of one rank: a thread with spans that follow each other, named in turn "mm" and the given name.
Trace RankWith(int32_t rank, const std::string& other_name, const std::vector<int64_t>& durations_ns) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1, .rank = rank}), .tid = 1});
  int64_t start = 0;
  for (size_t i = 0; i < durations_ns.size(); ++i) {
    builder.AddSpan({.start = {start},
                     .duration = {durations_ns[i]},
                     .name = builder.Intern(i % 2 == 0 ? "mm" : other_name),
                     .track = track});
    start += durations_ns[i];
  }
  return builder.Build();
}

TEST(SummaryOfRanks, AddsUpRowsOfEqualNamesAndTakesQuantilesOfAllDurations) {
  constexpr int64_t kLong = 6'000'000'000;  // ns: more than 32 bits
  SummaryOfRanks ops;
  ops.Add(RankWith(0, "relu", {10, 1, kLong, 2}));
  ops.Add(RankWith(1, "tanh", {20, 3, 40}));
  const JoinedSummary joined = std::move(ops).Join();
  ASSERT_EQ(joined.summary.rows.size(), 3u);
  const OpSummaryRow& mm = joined.summary.rows[0];
  EXPECT_EQ(joined.names.text(mm.name), "mm");
  EXPECT_EQ(mm.count, 4u);
  EXPECT_EQ(mm.total_ns, kLong + 70);
  EXPECT_EQ(mm.self_ns, kLong + 70);
  EXPECT_EQ(mm.min_ns, 10);
  EXPECT_EQ(mm.p50_ns, 20);  // of 10, 20, 40 and 6 s
  EXPECT_EQ(mm.p99_ns, kLong);
  EXPECT_EQ(mm.max_ns, kLong);
  EXPECT_EQ(joined.names.text(joined.summary.rows[1].name), "relu");
  EXPECT_EQ(joined.names.text(joined.summary.rows[2].name), "tanh");
  EXPECT_EQ(joined.summary.rows[2].total_ns, 3);
  EXPECT_EQ(joined.summary.thread_self_ns, kLong + 70 + 3 + 3);
}

TEST(SummaryOfRanks, KeepsApartRowsWhoseKeysDiffer) {
  SummaryOfRanks ops({.group_by = {GroupKey::kRank, GroupKey::kName}});
  ops.Add(RankWith(3, "mm", {10, 30}));
  ops.Add(RankWith(8, "mm", {50}));
  const JoinedSummary joined = std::move(ops).Join();
  ASSERT_EQ(joined.summary.rows.size(), 2u);
  EXPECT_EQ(joined.summary.key_names, std::vector<std::string>{"rank"});
  EXPECT_EQ(joined.summary.rows[0].keys, std::vector<std::string>{"3"});
  EXPECT_EQ(joined.summary.rows[0].stddev_ns, 10);
  EXPECT_EQ(joined.summary.rows[1].keys, std::vector<std::string>{"8"});
}

// A name may contain the text of a name and a key.
TEST(SummaryOfRanks, TellsTextsApartThatAreEqualWhenTheyStandSideBySide) {
  SummaryOfRanks ops({.group_by = {GroupKey::kName, GroupKey::kCategory}});
  for (const auto& [name, category] : std::vector<std::pair<std::string, std::string>>{{"ab", "c"},
                                                                                       {"a", "bc"},
                                                                                       {"1:b", ""},
                                                                                       {"", "1:b"},
                                                                                       {std::string("a\0", 2), "b"},
                                                                                       {"a", std::string("\0b", 2)}}) {
    TraceBuilder builder;
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
    builder.AddSpan(
        {.duration = {5}, .name = builder.Intern(name), .category = builder.Intern(category), .track = track});
    ops.Add(builder.Build());
  }
  EXPECT_EQ(std::move(ops).Join().summary.rows.size(), 6u);
}

TEST(SummaryOfRanks, HasNoRowsWithoutSpans) {
  SummaryOfRanks ops;
  ops.Add(Trace());
  const JoinedSummary joined = std::move(ops).Join();
  EXPECT_TRUE(joined.summary.rows.empty());
}

}  // namespace
}  // namespace opscope

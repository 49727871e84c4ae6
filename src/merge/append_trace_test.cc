// SPDX-License-Identifier: Apache-2.0
#include "merge/append_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "trace/debug_text_for_test.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

// Problems and metadata are the caller's; the order of processes is made anew.
std::string Tables(const Trace& trace) {
  std::string kept;
  const std::string dump = ToDebugText(trace, {.info = false, .problems = false});
  for (size_t at = 0; at < dump.size();) {
    const size_t end = dump.find('\n', at) + 1;
    const std::string_view line = std::string_view(dump).substr(at, end - at);
    if (!line.starts_with("process ") && !line.starts_with("metadata ")) kept += line;
    at = end;
  }
  return kept;
}

TEST(AppendTrace, KeepsEveryTableAndColumn) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomTables(seed).Make(300);
    TraceBuilder builder;
    TraceAppender appender(&builder);
    appender.Append(trace, {}, -1);
    const Trace copy = builder.Build();
    EXPECT_EQ(Tables(copy), Tables(trace)) << "seed " << seed;
  }
}

TEST(AppendTrace, CountsArrowsWhoseNumbersLeaveNoRoomForOthers) {
  TraceBuilder input, builder;
  const TrackId track = input.AddTrack({.process = input.AddProcess({.pid = 1}), .tid = 1});
  input.AddFlow({.id = UINT64_MAX, .start_track = track, .end_time = {1}, .end_track = track});
  const Trace trace = input.Build();
  TraceAppender appender(&builder);
  appender.Append(trace, {}, 0);
  EXPECT_EQ(appender.shared_ids(), 0u);
  appender.Append(trace, {}, 1);
  EXPECT_EQ(appender.shared_ids(), 1u);
  const Trace merged = builder.Build();
  EXPECT_NE(merged.flows().id[0], merged.flows().id[1]);
}

TEST(AppendTrace, MovesAPidThatIsTakenAboveAllOfLinuxForEveryRank) {
  TraceBuilder input, builder;
  input.AddProcess({.pid = 7});
  const Trace trace = input.Build();
  TraceAppender appender(&builder);
  for (const int32_t rank : {-1, 0, 3, INT32_MAX})
    appender.Append(trace, {}, rank);
  const Trace merged = builder.Build();
  const auto pids = merged.processes().pid;
  EXPECT_EQ(std::vector<int64_t>(pids.begin(), pids.end()),
            (std::vector<int64_t>{7, 10'000'007, 40'000'007, 21'474'836'480'000'007}));
}

TEST(AppendTrace, LabelsAProcessWithItsRankAlsoWhereALabelBeginsLikeIt) {
  TraceBuilder input, builder;
  input.AddProcess({.pid = 7, .labels = input.Intern("rank 10, CPU")});
  const Trace trace = input.Build();
  TraceAppender appender(&builder);
  appender.Append(trace, {}, 1);
  appender.Append(trace, {}, 10);
  const Trace merged = builder.Build();
  EXPECT_EQ(merged.text(merged.processes().labels[0]), "rank 1, rank 10, CPU");
  EXPECT_EQ(merged.text(merged.processes().labels[1]), "pid 7, rank 10, CPU");
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "export/opscope_spans.h"
#include "opscope/export.h"
#include "trace/builder.h"
#include "trace/random_tables_for_test.h"

namespace opscope {
namespace {

std::string BytesBy(size_t threads, const Trace& trace) {
  std::string bytes;
  WriteOpscope(trace, threads, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  return bytes;
}

TEST(OpscopeFile, HasTheSameBytesHoweverManyThreadsWriteIt) {
  const char* chosen = std::getenv("OPSCOPE_TEST_SEED");
  const uint64_t first_seed = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
  for (uint64_t seed = first_seed; seed < first_seed + 10; ++seed) {
    SCOPED_TRACE("OPSCOPE_TEST_SEED=" + std::to_string(seed));
    const Trace trace = RandomTables(seed).Make(300);
    const std::string alone = BytesBy(1, trace);
    EXPECT_EQ(BytesBy(2, trace), alone);
    EXPECT_EQ(BytesBy(5, trace), alone);
    EXPECT_EQ(OpscopeBytes(trace).value(), alone);
  }
}

TEST(OpscopeFile, HasTheSameBytesAlsoWithManyBlocksOfATable) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({})});
  for (int64_t i = 0; i < 200'000; ++i) {
    builder.AddSpan({.start = {i * 977 % 200'000 * 10'000},
                     .duration = {i % 30'000},
                     .name = builder.Intern(std::to_string(i % 90'000)),
                     .track = track,
                     .sequence = i % 3 == 0 ? i : -1});
  }
  const Trace trace = builder.Build();
  const std::string alone = BytesBy(1, trace);
  EXPECT_EQ(BytesBy(2, trace), alone);
  EXPECT_EQ(BytesBy(5, trace), alone);
}

TEST(OpscopeFile, OfManyThreadsWithDistantSpansIsPlannedInLittleTime) {
  constexpr int64_t kThreads = 300'000;
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({});
  for (int64_t i = 0; i < kThreads; ++i)
    builder.AddSpan({.start = {i * 2'000'000'000}, .track = builder.AddTrack({.process = process, .tid = i})});
  const Trace trace = builder.Build();
  std::vector<PlannedBlock> blocks;
  PlanSpanBlocks(trace, &blocks);  // minutes, were it quadratic
  EXPECT_EQ(blocks.size(), size_t{kThreads});
}

TEST(OpscopeFile, HasSumsThatDoNotWrapAround) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({});
  for (int64_t i = 0; i < 3; ++i)
    builder.AddSpan({.duration = {INT64_MAX}, .track = builder.AddTrack({.process = process, .tid = i})});
  const Trace trace = builder.Build();
  const std::vector<FooterSum> sums = SumByName(trace.spans());
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].total_ns, INT64_MAX);
  EXPECT_EQ(sums[0].self_ns, INT64_MAX);
}

TEST(OpscopeFile, IsNotWrittenOnWhenNoMoreIsWanted) {
  const Trace trace = RandomTables(1).Make(300);
  for (const size_t threads : {1u, 5u}) {
    for (int wanted = 1; wanted < 6; ++wanted) {
      int taken = 0;
      WriteOpscope(trace, threads, [&](std::string_view) { return ++taken < wanted; });
      EXPECT_EQ(taken, wanted);
    }
  }
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// Ops and allocations at few, repeating times; every op's bytes by looking at every allocation.
Trace RandomMemory(uint64_t seed, bool in_order) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .logical_thread = 1});
  for (int i = 0; i < 30; ++i) {
    const int64_t start = below(60);
    builder.AddSpan({.start = {start}, .duration = {below(20)}, .name = builder.Intern("op"), .track = track});
  }
  std::vector<int64_t> times;
  for (int i = 0; i < 40; ++i)
    times.push_back(below(90));
  if (in_order) std::sort(times.begin(), times.end());
  for (const int64_t time : times)
    builder.AddAllocation({.time = {time}, .track = track, .bytes = 1 + below(100)});
  return builder.Build();
}

TEST(AttributeMemory, GivesEveryOpTheBytesOfItsTime) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomMemory(seed, seed % 2 == 0);
    const FunctionEvents events = BuildFunctionEvents(trace);
    const AllocationColumns& allocations = trace.allocations();
    std::vector<bool> is_claimed(allocations.size());
    size_t spans = 0;
    for (size_t i = 0; i < events.size(); ++i) {
      if (events.span[i] == SpanId::kNone) continue;
      ++spans;
      const uint32_t span = Row(events.span[i]);
      const int64_t start = trace.spans().start[span].ns, end = start + trace.spans().duration[span].ns;
      int64_t bytes = 0;
      for (size_t k = 0; k < allocations.size(); ++k) {
        if (allocations.time[k].ns < start || allocations.time[k].ns > end) continue;
        bytes += allocations.bytes[k];
        is_claimed[k] = true;
      }
      EXPECT_EQ(events.cpu_memory_usage[i], bytes);
    }
    const auto unclaimed = std::count(is_claimed.begin(), is_claimed.end(), false);
    EXPECT_EQ(static_cast<size_t>(unclaimed), events.size() - spans);
    for (size_t i = 1; i < events.size(); ++i)
      EXPECT_LE(events.start_us[i - 1], events.start_us[i]);
  }
}

// Two ops of one name after each other, each with an allocation of INT64_MAX bytes.
Trace LargestAllocations() {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .logical_thread = 1});
  for (const int64_t start : {0, 100}) {
    builder.AddSpan({.start = {start}, .duration = {50}, .name = builder.Intern("op"), .track = track});
    builder.AddAllocation({.time = {start + 10}, .track = track, .bytes = INT64_MAX});
  }
  return builder.Build();
}

TEST(AttributeMemory, GivesTheBytesOfAnOpAlsoWhereTheSumOfAllOverflows) {
  const Trace trace = LargestAllocations();
  EXPECT_EQ(BuildFunctionEvents(trace).cpu_memory_usage, (std::vector<int64_t>{INT64_MAX, INT64_MAX}));
}

// torch ends an unfinished range with the first range around it that ends.
TEST(AttributeMemory, GivesAnUnfinishedOpNoBytesFromAfterItsEndInTheList) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .logical_thread = 1});
  builder.AddSpan({.start = {0}, .duration = {1001}, .name = builder.Intern("outer"), .track = track});
  builder.AddSpan({.start = {2},
                   .duration = {9000},
                   .name = builder.Intern("unfinished"),
                   .track = track,
                   .flags = span_flags::kUnfinished});
  for (const int64_t time : {5, 1001, 5000})
    builder.AddAllocation({.time = {time}, .track = track, .bytes = time});
  const Trace trace = builder.Build();
  EXPECT_EQ(BuildFunctionEvents(trace).cpu_memory_usage, (std::vector<int64_t>{1006, 1006, 5000}));
}

TEST(AverageFunctionEvents, SaturatesSumsOfBytes) {
  const Trace trace = LargestAllocations();
  const std::vector<FunctionEventAverage> rows = AverageFunctionEvents(trace, BuildFunctionEvents(trace), {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].cpu_memory_usage, INT64_MAX);
  EXPECT_EQ(rows[0].self_cpu_memory_usage, INT64_MAX);
}

TEST(SelfCpuMemoryUsage, SaturatesWhereChildrenAllocateMoreThanFits) {
  FunctionEvents events;
  events.flags = {0, 0};
  events.first_child = {EventIndex{1}, EventIndex::kNone};
  events.next_sibling = {EventIndex::kNone, EventIndex::kNone};
  events.cpu_memory_usage = {-INT64_MAX, INT64_MAX};
  EXPECT_EQ(SelfCpuMemoryUsage(events, 0), INT64_MIN);
}

}  // namespace
}  // namespace opscope

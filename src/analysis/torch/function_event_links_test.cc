// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

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

}  // namespace
}  // namespace opscope

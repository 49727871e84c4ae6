// SPDX-License-Identifier: Apache-2.0
#include "import/torch/memory_snapshot.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "trace/problem_count_for_test.h"

namespace opscope {
namespace {

struct Step {
  SnapshotAction action;
  int64_t allocated_after = 0;
};

// What an allocator does that gives each block a place of its own.
std::vector<Step> RandomHistory(std::mt19937_64* random, std::map<uint64_t, int64_t>* living) {
  std::vector<Step> steps;
  int64_t allocated = 0, time_us = 1'000'000;
  for (int i = 0; i < 200; ++i) {
    const bool frees = !living->empty() && (*random)() % 2 == 0;
    if (frees) {
      const auto block = std::next(living->begin(), static_cast<ptrdiff_t>((*random)() % living->size()));
      for (const char* action : {"free_requested", "free_completed"}) {
        if (action[5] == 'c') allocated -= block->second;
        steps.push_back(
            {{.action = action, .address = block->first, .size = block->second, .time_us = ++time_us}, allocated});
      }
      living->erase(block);
    } else {
      const uint64_t address = 4096 + (*random)() % 50 * 4096;
      if (living->count(address) != 0) continue;
      const auto size = static_cast<int64_t>((*random)() % 4096);
      allocated += size;
      (*living)[address] = size;
      steps.push_back({{.action = "alloc", .address = address, .size = size, .time_us = ++time_us}, allocated});
    }
  }
  return steps;
}

TEST(MemorySnapshot, KnowsTheTotalsHoweverMuchOfTheHistoryIsGone) {
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 50; ++round) {
    std::map<uint64_t, int64_t> living;
    const std::vector<Step> steps = RandomHistory(&random, &living);
    const size_t gone = random() % steps.size();
    TraceBuilder builder;
    MemorySnapshotTables tables(&builder);
    std::vector<int64_t> expected;
    for (size_t i = gone; i < steps.size(); ++i) {
      tables.AddAction(steps[i].action);
      if (steps[i].action.action != "free_requested") expected.push_back(steps[i].allocated_after);
    }
    for (const auto& [address, size] : living)
      tables.AddBlock({.address = address, .size = 4096, .requested_size = size, .state = "active_allocated"});
    tables.AddBlock({.address = 1, .size = 4096, .state = "inactive"});
    tables.Finish();
    const Trace trace = builder.Build();
    const AllocationColumns& rows = trace.allocations();
    const auto older = static_cast<ptrdiff_t>(rows.size() - expected.size());
    EXPECT_EQ(std::vector<int64_t>(rows.total_allocated.begin() + older, rows.total_allocated.end()), expected);
    const int64_t end = std::accumulate(rows.bytes.begin(), rows.bytes.end(), int64_t{0});
    EXPECT_EQ(end, expected.empty() ? steps.back().allocated_after : expected.back());
  }
}

TEST(MemorySnapshot, SharesEqualStacks) {
  TraceBuilder builder;
  MemorySnapshotTables tables(&builder);
  const SnapshotFrame frames[] = {{"a.py", "f", 3}, {"b.py", "main", 9}};
  const SnapshotFrame other[] = {{"a.py", "g", 4}, {"b.py", "main", 9}};
  EXPECT_EQ(tables.AddStack(frames), tables.AddStack(frames));
  EXPECT_EQ(tables.AddStack({}), StackId::kNone);
  EXPECT_EQ(builder.CallStackText(tables.AddStack(other)), "a.py(4): g;b.py(9): main;");
  EXPECT_EQ(builder.Build().stacks().size(), 3u);
}

// A search among the open annotations would compare names 5,000,000,000 times.
TEST(MemorySnapshot, EndsAnnotationsInTheOrderInWhichTheyBegan) {
  constexpr int kAnnotations = 100'000;
  TraceBuilder builder;
  MemorySnapshotTables tables(&builder);
  for (const bool begins : {true, false}) {
    for (int i = 0; i < kAnnotations; ++i)
      tables.AddAnnotation(
          {.begins = begins, .name = "n" + std::to_string(i), .time_us = (begins ? 0 : kAnnotations) + i});
  }
  tables.Finish();
  const Trace trace = builder.Build();
  const SpanColumns& spans = trace.spans();
  ASSERT_EQ(spans.size(), size_t{kAnnotations});
  for (size_t i = 0; i < spans.size(); ++i) {
    ASSERT_EQ(trace.text(spans.name[i]), "n" + std::to_string(i));
    ASSERT_EQ(spans.start[i].ns, static_cast<int64_t>(i) * 1000);
    ASSERT_EQ(spans.duration[i].ns, int64_t{kAnnotations} * 1000);
  }
  EXPECT_EQ(ProblemCount(trace, "stray_end"), 0u);
  EXPECT_EQ(ProblemCount(trace, "unclosed_begin"), 0u);
}

}  // namespace
}  // namespace opscope

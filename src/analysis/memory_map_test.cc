// The blocks against the definition of docs/reference/memory.md: one event at a time, with a list of live blocks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "opscope/analysis/leak_candidates.h"
#include "opscope/analysis/memory_usage.h"
#include "opscope/torch/memory_timeline.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// begin, end, address, bytes, before, kept
using PlainBlock = std::tuple<int64_t, int64_t, uint64_t, int64_t, bool, bool>;

PlainBlock PlainOf(const MemoryMapBlock& block) {
  return {block.begin_ns, block.end_ns, block.address, block.bytes, block.is_before, block.is_kept};
}

struct MapEvent {
  int64_t time, bytes;
  uint64_t address;
};

Trace TraceOfEvents(const std::vector<MapEvent>& events, int64_t end) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddSpan({.start = {0}, .duration = {end}, .name = builder.Intern("aten::mm"), .track = track});
  for (const MapEvent& event : events)
    builder.AddAllocation({.time = {event.time}, .track = track, .address = event.address, .bytes = event.bytes});
  return builder.Build();
}

TEST(MemoryMap, HasTheBlocksOfTheExampleOfItsDefinition) {
  const Trace trace = TraceOfEvents({{10, 100, 0xA00}, {20, 50, 0xB00}, {30, -100, 0xA00}, {40, -120, 0xC00}}, 60);
  const std::vector<MemoryMapDevice> devices = MapMemory(trace, {});
  ASSERT_EQ(devices.size(), 1u);
  ASSERT_EQ(devices[0].blocks.size(), 3u);
  EXPECT_EQ(PlainOf(devices[0].blocks[0]), PlainBlock(0, 40, 0xC00, 120, true, false));    // 120 x 41
  EXPECT_EQ(PlainOf(devices[0].blocks[1]), PlainBlock(10, 30, 0xA00, 100, false, false));  // 100 x 21
  EXPECT_EQ(PlainOf(devices[0].blocks[2]), PlainBlock(20, 60, 0xB00, 50, false, true));    // 50 x 41
  EXPECT_EQ(trace.text(devices[0].blocks[2].name), "aten::mm");
  const std::vector<MemoryMapDevice> one = MapMemory(trace, {}, 1);
  EXPECT_EQ(one[0].blocks.size(), 1u);
  EXPECT_EQ(std::tuple(one[0].left_out, one[0].left_out_bytes), std::tuple(2u, 150));
}

TEST(MemoryMap, AllocationsWithoutAnAddressAreCountedAndNoBlocks) {
  const Trace trace = TraceOfEvents({{10, 100, 0}, {20, -100, 0}, {30, 7, 0}}, 60);
  const std::vector<MemoryMapDevice> devices = MapMemory(trace, {});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_TRUE(devices[0].blocks.empty());
  EXPECT_EQ(devices[0].without_address, 2u);
}

TEST(MemoryMap, IsEmptyWithoutEvents) {
  EXPECT_TRUE(MapMemory(TraceOfEvents({}, 10), {}).empty());
  EXPECT_TRUE(MapMemory(TraceBuilder().Build(), {}).empty());
  EXPECT_TRUE(FindLeakCandidates(TraceBuilder().Build()).empty());
}

TEST(MemoryMap, TakesTensorLivesWhereThereAreNoAllocations) {
  TraceBuilder builder;
  const ProcessId process = builder.AddProcess({.pid = 1});
  const TrackId stream = builder.AddTrack({.process = process, .kind = TrackKind::kDeviceStream, .tid = 1});
  const StringId name = builder.Intern("MatMul:0");
  builder.AddTensorLife({.produced = {10}, .duration = {30}, .track = stream, .address = 64, .bytes = 8, .name = name});
  builder.AddTensorLife({.produced = {20}, .duration = {-1}, .track = stream, .address = 128, .bytes = 16});
  builder.AddTensorLife({.produced = {25}, .duration = {5}, .track = stream, .address = 0, .bytes = 16});
  builder.AddTensorLife({.produced = {30}, .duration = {70}, .track = TrackId::kNone, .address = 256, .bytes = 0});
  const Trace trace = builder.Build();
  const std::vector<MemoryMapDevice> devices = MapMemory(trace, {});
  ASSERT_EQ(devices.size(), 1u);
  ASSERT_EQ(devices[0].blocks.size(), 2u);
  EXPECT_EQ(PlainOf(devices[0].blocks[0]), PlainBlock(20, 100, 128, 16, false, true));
  EXPECT_EQ(PlainOf(devices[0].blocks[1]), PlainBlock(10, 40, 64, 8, false, false));
  EXPECT_EQ(devices[0].blocks[1].name, name);
  EXPECT_EQ(devices[0].without_address, 1u);
}

TEST(MemoryMap, HasTheLastCategoryOfEachBlock) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  builder.AddAllocation({.time = {10}, .track = track, .address = 64, .bytes = 8, .device_type = 1, .device = 0});
  builder.AddAllocation({.time = {40}, .track = track, .address = 64, .bytes = -8, .device_type = 1, .device = 0});
  builder.AddAllocation({.time = {50}, .track = track, .address = 64, .bytes = 8, .device_type = 1, .device = 0});
  builder.AddAllocation({.time = {70}, .track = track, .address = 96, .bytes = -4, .device_type = 1, .device = 0});
  const Trace trace = builder.Build();
  MemoryTimeline timeline;
  timeline.has_operators = true;
  const auto row = [&](int64_t time, MemoryAction action, MemoryCategory category, MemoryCategory next,
                       uint64_t address) {
    timeline.rows.push_back({.time = {time},
                             .action = action,
                             .category = category,
                             .next_category = next,
                             .device_type = 1,
                             .device = 0,
                             .address = address});
  };
  using enum MemoryAction;
  using enum MemoryCategory;
  row(0, kPreexisting, kParameter, kUnknown, 96);
  row(10, kCreate, kActivation, kUnknown, 64);
  row(20, kIncrementVersion, kActivation, kGradient, 64);
  row(40, kDestroy, kGradient, kUnknown, 64);
  row(50, kCreate, kTemporary, kUnknown, 64);
  std::map<int64_t, std::string_view> of_begin;
  const std::vector<MemoryMapDevice> devices = MapMemory(trace, timeline);
  for (const MemoryMapBlock& block : devices[0].blocks)
    of_begin[block.is_before ? -1 : block.begin_ns] = block.category;
  EXPECT_EQ(of_begin, (std::map<int64_t, std::string_view>{{-1, "PARAMETER"}, {10, "GRADIENT"}, {50, "TEMPORARY"}}));
}

struct RandomMemory {
  Trace trace;
  int64_t first_step_end = -1;  // -1: no steps
};

// Few times and addresses, so that equal times, lost frees and unknown addresses are common. One device and thread.
RandomMemory RandomMemoryOf(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); };
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const char* names[] = {"a", "b"};
  const StackId stacks[] = {StackId::kNone, builder.AddStack(builder.AddFrame(builder.Intern("f")), StackId::kNone)};
  int64_t at = below(5);
  const int64_t steps = below(4);
  RandomMemory result;
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t end = at + 1 + below(8);
    builder.AddStep(
        step, builder.Intern("step"),
        builder.AddSpan({.start = {at}, .duration = {end - at}, .name = builder.Intern("step"), .track = track}));
    for (int64_t i = at; i + 2 <= end; i += 2)
      builder.AddSpan({.start = {i},
                       .duration = {1},
                       .name = builder.Intern(names[below(2)]),
                       .category = builder.Intern("cpu_op"),
                       .track = track});
    if (step == 0) result.first_step_end = end;
    at = end + below(3);
  }
  for (int64_t i = below(30); i > 0; --i) {
    const int64_t sign = below(9), size = 1 + below(5);
    builder.AddAllocation({.time = {below(40)},
                           .track = track,
                           .address = static_cast<uint64_t>(below(5)),
                           .bytes = sign == 0  ? 0
                                    : sign < 4 ? -size
                                               : size,
                           .stack = stacks[below(2)]});
  }
  result.trace = builder.Build();
  return result;
}

// Rows of allocations in order of time.
std::vector<uint32_t> EventsInOrder(const Trace& trace) {
  std::vector<uint32_t> rows(trace.allocations().size());
  for (uint32_t i = 0; i < rows.size(); ++i)
    rows[i] = i;
  std::stable_sort(rows.begin(), rows.end(), [&](uint32_t a, uint32_t b) {
    return trace.allocations().time[a].ns < trace.allocations().time[b].ns;
  });
  return rows;
}

std::multiset<PlainBlock> PlainBlocks(const Trace& trace) {
  const AllocationColumns& events = trace.allocations();
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (uint32_t i = 0; i < trace.spans().size(); ++i) {
    begin = std::min(begin, trace.spans().start[i].ns);
    end = std::max(end, trace.spans().start[i].ns + trace.spans().duration[i].ns);
  }
  for (uint32_t i = 0; i < events.size(); ++i) {
    begin = std::min(begin, events.time[i].ns);
    end = std::max(end, events.time[i].ns);
  }
  std::map<uint64_t, std::vector<std::pair<int64_t, int64_t>>> live;  // begin and bytes, the newest last
  std::set<uint64_t> seen;
  std::multiset<PlainBlock> blocks;
  for (const uint32_t row : EventsInOrder(trace)) {
    const uint64_t address = events.address[row];
    const int64_t bytes = events.bytes[row], time = events.time[row].ns;
    const bool is_new = seen.insert(address).second;
    if (address == 0) continue;
    if (bytes > 0) live[address].emplace_back(time, bytes);
    if (bytes >= 0) continue;
    if (!live[address].empty()) {
      blocks.insert({live[address].back().first, time, address, live[address].back().second, false, false});
      live[address].pop_back();
    } else if (is_new) {
      blocks.insert({begin, time, address, -bytes, true, false});
    }
  }
  for (const auto& [address, list] : live)
    for (const auto& [time, bytes] : list)
      blocks.insert({time, end, address, bytes, false, true});
  return blocks;
}

double Weight(const PlainBlock& block) {
  return static_cast<double>(std::get<3>(block)) * static_cast<double>(std::get<1>(block) - std::get<0>(block) + 1);
}

TEST(MemoryMap, EqualsTheDefinitionOnRandomTraces) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const RandomMemory random = RandomMemoryOf(seed);
    const std::multiset<PlainBlock> expected = PlainBlocks(random.trace);
    for (const size_t most : {size_t{1000}, size_t{3}, size_t{0}}) {
      const std::vector<MemoryMapDevice> devices = MapMemory(random.trace, {}, most);
      if (devices.empty()) {
        ASSERT_EQ(random.trace.allocations().size(), 0u);
        continue;
      }
      const MemoryMapDevice& device = devices[0];
      std::multiset<PlainBlock> rest = expected;
      double least = 1e300;
      for (const MemoryMapBlock& block : device.blocks) {
        const auto found = rest.find(PlainOf(block));
        ASSERT_NE(found, rest.end()) << "seed " << seed;
        ASSERT_LE(Weight(*found), least);
        least = Weight(*found);
        rest.erase(found);
      }
      ASSERT_EQ(device.blocks.size(), std::min(most, expected.size()));
      int64_t bytes = 0;
      for (const PlainBlock& block : rest) {
        ASSERT_LE(Weight(block), least);
        bytes += std::get<3>(block);
      }
      ASSERT_EQ(std::tuple(device.left_out, device.left_out_bytes), std::tuple(rest.size(), bytes)) << "seed " << seed;
    }
  }
}

TEST(LeakCandidates, AreThoseOfTheExampleOfTheirDefinition) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  for (int64_t step = 0; step < 3; ++step) {
    const AddedSpan span = builder.AddSpan({.start = {100 * step}, .duration = {100}, .track = track});
    builder.AddStep(step, builder.Intern("step"), span);
    builder.AddSpan({.start = {100 * step + 10}, .duration = {50}, .name = builder.Intern("aten::mm"), .track = track});
  }
  const auto event = [&](int64_t time, uint64_t address, int64_t bytes) {
    builder.AddAllocation({.time = {time}, .track = track, .address = address, .bytes = bytes});
  };
  event(20, 1, 1000);  // in the first step
  event(120, 2, 30);
  event(130, 3, 50);
  event(140, 3, -50);
  event(220, 4, 30);
  event(270, 5, 8);  // outside of the operator
  const Trace trace = builder.Build();
  const std::vector<LeakCandidateRow> rows = FindLeakCandidates(trace);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(trace.text(rows[0].name), "aten::mm");
  EXPECT_EQ(std::tuple(rows[0].allocations, rows[0].bytes, rows[0].steps), std::tuple(2u, 60, 2u));
  EXPECT_EQ(rows[1].name, StringId::kNone);
  EXPECT_EQ(std::tuple(rows[1].allocations, rows[1].bytes, rows[1].steps), std::tuple(1u, 8, 1u));
}

TEST(LeakCandidates, CountAStepOnceThatAnotherInterrupts) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const int64_t times[3][2] = {{0, 10}, {20, 100}, {40, 60}};
  for (const auto& [begin, end] : times) {
    const AddedSpan span = builder.AddSpan({.start = {begin}, .duration = {end - begin}, .track = track});
    builder.AddStep(begin, builder.Intern("step"), span);
  }
  for (const int64_t time : {30, 50, 70})
    builder.AddAllocation({.time = {time}, .track = track, .address = static_cast<uint64_t>(time), .bytes = 8});
  const std::vector<LeakCandidateRow> rows = FindLeakCandidates(builder.Build());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(std::tuple(rows[0].allocations, rows[0].steps), std::tuple(3u, 2u));
}

TEST(LeakCandidates, EqualTheDefinitionOnRandomTraces) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const auto [trace, first_step_end] = RandomMemoryOf(seed);
    const AllocationColumns& events = trace.allocations();
    std::map<uint64_t, std::vector<uint32_t>> live;
    for (const uint32_t row : EventsInOrder(trace)) {
      std::vector<uint32_t>& of_address = live[events.address[row]];
      if (events.bytes[row] > 0) of_address.push_back(row);
      if (events.bytes[row] < 0 && !of_address.empty()) of_address.pop_back();
    }
    struct Group {
      uint64_t allocations = 0;
      int64_t bytes = 0;
      std::set<int64_t> steps;
    };
    std::map<std::pair<std::string, uint32_t>, Group> expected;
    for (const auto& [address, rows] : live) {
      for (const uint32_t row : rows) {
        const int64_t time = events.time[row].ns;
        if (address == 0 || time < first_step_end) continue;
        std::string name;
        std::set<int64_t> steps;
        for (uint32_t span = 0; span < trace.spans().size(); ++span) {
          const int64_t begin = trace.spans().start[span].ns, end = begin + trace.spans().duration[span].ns;
          const std::string_view text = trace.text(trace.spans().name[span]);
          if (time < begin || time >= end) continue;
          if (text == "step") {
            steps.insert(begin);
          } else {
            name = text;
          }
        }
        Group& group = expected[{name, Row(events.stack[row])}];
        ++group.allocations;
        group.bytes += events.bytes[row];
        group.steps.insert(steps.begin(), steps.end());
      }
    }
    const std::vector<LeakCandidateRow> rows = FindLeakCandidates(trace);
    ASSERT_EQ(rows.size(), expected.size()) << "seed " << seed;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string name(rows[i].name == StringId::kNone ? "" : trace.text(rows[i].name));
      const Group& group = expected[{name, Row(rows[i].stack)}];
      ASSERT_EQ(std::tuple(rows[i].allocations, rows[i].bytes, rows[i].steps),
                std::tuple(group.allocations, group.bytes, group.steps.size()))
          << "seed " << seed;
      ASSERT_LE(rows[i].bytes, rows[i > 0 ? i - 1 : 0].bytes);
    }
  }
}

}  // namespace
}  // namespace opscope

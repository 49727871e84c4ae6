// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "opscope/analysis/memory_usage.h"
#include "opscope/analysis/span_filter.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// A rank with one stream, named as MegEngine names it, and a thread with its operators.
class LifeProgram {
 public:
  explicit LifeProgram(const char* stream = "cpu0:0") {
    const ProcessId process = builder_.AddProcess({.pid = 1, .rank = 3});
    thread_ = builder_.AddTrack({.process = process, .tid = 1});
    stream_ = builder_.AddTrack(
        {.process = process, .kind = TrackKind::kDeviceStream, .tid = 7, .name = builder_.Intern(stream), .device = 0});
  }

  void Operator(const std::string& name, uint32_t id, int64_t begin, int64_t end) {
    builder_.AddSpan({.start = {begin},
                      .duration = {end - begin},
                      .name = builder_.Intern(name),
                      .track = thread_,
                      .kind = SpanKind::kOperator,
                      .external_id = id});
  }
  void Step(int64_t number, int64_t begin, int64_t end) {
    const StringId name = builder_.Intern("step" + std::to_string(number));
    builder_.AddStep(number, name,
                     builder_.AddSpan({.start = {begin},
                                       .duration = {end - begin},
                                       .name = name,
                                       .track = thread_,
                                       .kind = SpanKind::kUserRange}));
  }
  // end < 0: it is never released.
  void Tensor(uint64_t op, int64_t begin, int64_t end, uint64_t address, uint64_t bytes) {
    builder_.AddTensorLife({.produced = {begin},
                            .duration = {end < 0 ? -1 : end - begin},
                            .track = stream_,
                            .op = op,
                            .address = address,
                            .bytes = bytes});
  }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
  TrackId thread_ = TrackId::kNone, stream_ = TrackId::kNone;
};

// Name, allocations, allocated bytes, bytes at the peak.
using LifeRow = std::tuple<std::string, uint64_t, int64_t, int64_t>;

std::vector<LifeRow> LifeRowsOf(const Trace& trace, const MemoryUsage& usage) {
  std::vector<LifeRow> rows;
  for (const OperatorMemoryRow& row : usage.rows) {
    const bool has_name = row.name != StringId::kNone;
    rows.emplace_back(row.is_before ? "(before)"
                      : has_name    ? std::string(trace.text(row.name))
                                    : "(none)",
                      row.allocations, row.allocated_bytes, row.peak_bytes);
  }
  return rows;
}

// The example of tensor_life_usage.cc, with steps.
Trace LifeExample() {
  LifeProgram program;
  program.Step(0, 0, 30);
  program.Step(1, 30, 60);
  program.Operator("conv", 11, 8, 12);
  program.Operator("view", 12, 18, 22);
  program.Operator("relu", 13, 38, 42);
  program.Tensor(11, 10, 30, 1000, 100);
  program.Tensor(12, 20, -1, 1040, 20);
  program.Tensor(13, 40, 50, 1040, 50);
  return program.Build();
}

TEST(TensorLifeUsage, AViewHoldsTheMemoryThatItsTensorLeaves) {
  const Trace trace = LifeExample();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  ASSERT_EQ(usage.devices.size(), 1u);
  const DeviceMemoryRow& device = usage.devices[0];
  EXPECT_EQ(device.place, (MemoryPlace{.rank = 3, .device_type = 0, .device = 0}));
  EXPECT_EQ(device.allocations, 2u);
  EXPECT_EQ(device.frees, 2u);
  EXPECT_EQ(device.allocated_bytes, 130);
  EXPECT_EQ(device.freed_bytes, 110);
  EXPECT_EQ(device.start_bytes, 0);
  EXPECT_EQ(device.end_bytes, 20);
  EXPECT_EQ(device.peak_bytes, 100);
  EXPECT_EQ(device.peak_ns, 10);
  EXPECT_EQ(device.peak_reserved_bytes, std::nullopt);
  EXPECT_EQ(LifeRowsOf(trace, usage), (std::vector<LifeRow>{{"conv", 1, 100, 100}, {"relu", 1, 30, 0}}));
}

TEST(TensorLifeUsage, StepsHaveTheLevelsAtTheirEnds) {
  const MemoryUsage usage = MeasureMemoryUsage(LifeExample());
  ASSERT_EQ(usage.steps.size(), 2u);
  EXPECT_EQ(usage.steps[0].start_bytes, 0);
  EXPECT_EQ(usage.steps[0].end_bytes, 100);
  EXPECT_EQ(usage.steps[0].peak_bytes, 100);
  EXPECT_EQ(usage.steps[1].start_bytes, 100);
  EXPECT_EQ(usage.steps[1].end_bytes, 20);
  EXPECT_EQ(usage.steps[1].peak_bytes, 100);
}

TEST(TensorLifeUsage, APeakInChosenSpansNamesAllThatLivesThen) {
  const Trace trace = LifeExample();
  const std::vector<uint8_t> selected = SpanFilter::Parse("name = relu").value().Select(trace);
  const MemoryUsage usage = MeasureMemoryUsage(trace, &selected);
  ASSERT_EQ(usage.devices.size(), 1u);
  EXPECT_EQ(usage.devices[0].allocations, 1u);
  EXPECT_EQ(usage.devices[0].frees, 0u);
  EXPECT_EQ(usage.devices[0].start_bytes, 20);
  EXPECT_EQ(usage.devices[0].peak_bytes, 50);
  EXPECT_EQ(usage.devices[0].peak_ns, 40);
  EXPECT_EQ(LifeRowsOf(trace, usage), (std::vector<LifeRow>{{"relu", 1, 30, 30}, {"view", 0, 0, 20}}));
}

TEST(TensorLifeUsage, ATensorThatTakesTheMemoryOfAnEndedOneRaisesNoPeak) {
  LifeProgram program("gpu0:0");
  program.Tensor(0, 10, 20, 1000, 100);
  program.Tensor(0, 20, 30, 5000, 100);
  const MemoryUsage usage = MeasureMemoryUsage(program.Build());
  ASSERT_EQ(usage.devices.size(), 1u);
  EXPECT_EQ(usage.devices[0].place.device_type, 1);
  EXPECT_EQ(usage.devices[0].peak_bytes, 100);
  EXPECT_EQ(usage.devices[0].peak_ns, 10);
}

// Counts, for each address, the tensors that cover it.
struct PlainUsage {
  struct PlainLife {
    int64_t begin, end;  // end < 0: never
    uint64_t address, bytes, op;
  };

  void Count(const std::vector<PlainLife>& lives) {
    struct PlainEvent {
      int64_t time;
      bool is_end;
      size_t life;
    };
    std::vector<PlainEvent> events;
    for (size_t i = 0; i < lives.size(); ++i) {
      if (lives[i].bytes == 0) continue;
      events.push_back({lives[i].begin, false, i});
      if (lives[i].end >= 0) events.push_back({lives[i].end, true, i});
    }
    std::stable_sort(events.begin(), events.end(), [](const PlainEvent& a, const PlainEvent& b) {
      return std::tie(a.time, a.is_end, a.life) < std::tie(b.time, b.is_end, b.life);
    });
    std::array<int, 200> covers{};
    for (size_t i = 0; i < events.size(); ++i) {
      const PlainLife& life = lives[events[i].life];
      int64_t change = 0;
      for (uint64_t byte = life.address; byte < life.address + life.bytes; ++byte) {
        if (events[i].is_end) {
          change -= --covers[byte] == 0;
        } else {
          change += covers[byte]++ == 0;
        }
      }
      level += change;
      if (change > 0) ++allocations[life.op], allocated[life.op] += change;
      if (change < 0) freed -= change;
      const bool is_last = i + 1 == events.size() || events[i + 1].time != events[i].time;
      if (is_last && level > peak) peak = level, peak_time = events[i].time;
    }
    std::array<bool, 200> is_taken{};
    std::vector<size_t> by_begin(lives.size());
    for (size_t i = 0; i < lives.size(); ++i)
      by_begin[i] = i;
    std::stable_sort(by_begin.begin(), by_begin.end(),
                     [&](size_t a, size_t b) { return lives[a].begin < lives[b].begin; });
    for (const size_t i : by_begin) {
      const PlainLife& life = lives[i];
      if (life.begin > peak_time || (life.end >= 0 && life.end <= peak_time)) continue;
      for (uint64_t byte = life.address; byte < life.address + life.bytes; ++byte) {
        if (!is_taken[byte]) ++at_peak[life.op];
        is_taken[byte] = true;
      }
    }
  }

  std::map<uint64_t, uint64_t> allocations;  // by op
  std::map<uint64_t, int64_t> allocated, at_peak;
  int64_t level = 0, freed = 0, peak = 0, peak_time = -1;
};

TEST(TensorLifeUsage, EqualsCountsByAddressOnRandomLives) {
  std::mt19937 random(9);
  const auto below = [&](int64_t end) { return static_cast<int64_t>(random() % static_cast<uint32_t>(end)); };
  for (int round = 0; round < 1000; ++round) {
    LifeProgram program;
    std::vector<PlainUsage::PlainLife> lives;
    for (uint32_t op = 1; op < 4; ++op)
      program.Operator("op" + std::to_string(op), op, 0, 100);
    for (int64_t i = 0, count = 1 + below(20); i < count; ++i) {
      const int64_t begin = below(40);
      lives.push_back({begin, below(4) == 0 ? -1 : begin + below(20), static_cast<uint64_t>(1 + below(100)),
                       static_cast<uint64_t>(below(40)), static_cast<uint64_t>(below(4))});
    }
    std::stable_sort(lives.begin(), lives.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    for (const PlainUsage::PlainLife& life : lives)
      program.Tensor(life.op, life.begin, life.end, life.address, life.bytes);
    PlainUsage plain;
    plain.Count(lives);
    const Trace trace = program.Build();
    const MemoryUsage usage = MeasureMemoryUsage(trace);
    if (plain.peak == 0) continue;
    ASSERT_EQ(usage.devices.size(), 1u);
    EXPECT_EQ(usage.devices[0].peak_bytes, plain.peak);
    EXPECT_EQ(usage.devices[0].peak_ns, plain.peak_time);
    EXPECT_EQ(usage.devices[0].end_bytes, plain.level);
    EXPECT_EQ(usage.devices[0].freed_bytes, plain.freed);
    std::map<std::string, LifeRow> expected;
    for (uint64_t op = 0; op < 4; ++op) {
      const std::string name = op == 0 ? "(none)" : "op" + std::to_string(op);
      if (plain.allocations[op] > 0 || plain.at_peak[op] > 0)
        expected[name] = {name, plain.allocations[op], plain.allocated[op], plain.at_peak[op]};
    }
    std::map<std::string, LifeRow> found;
    for (const LifeRow& row : LifeRowsOf(trace, usage))
      found[std::get<0>(row)] = row;
    EXPECT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/memory_usage.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// A process with one thread, whose spans and allocations tests add by hand.
class MemoryProgram {
 public:
  explicit MemoryProgram(int32_t rank = -1) : process_(builder_.AddProcess({.pid = 1, .rank = rank})) {
    thread_ = builder_.AddTrack({.process = process_, .tid = 1});
  }

  TraceBuilder& builder() { return builder_; }
  ProcessId process() const { return process_; }
  TrackId thread() const { return thread_; }

  AddedSpan Add(const char* name, int64_t begin, int64_t end, const char* category = "cpu_op", uint8_t flags = 0) {
    return builder_.AddSpan({.start = {begin},
                             .duration = {end - begin},
                             .name = builder_.Intern(name),
                             .category = builder_.Intern(category),
                             .track = thread_,
                             .flags = flags});
  }
  void Step(int64_t number, int64_t begin, int64_t end) {
    const std::string name = "ProfilerStep#" + std::to_string(number);
    const AddedSpan span = Add(name.c_str(), begin, end, "user_annotation");
    builder_.AddStep(number, builder_.Intern(name), span);
  }
  void Event(int64_t time, int64_t bytes, uint64_t address, int64_t total = -1) {
    builder_.AddAllocation(
        {.time = {time}, .track = thread_, .address = address, .bytes = bytes, .total_allocated = total});
  }
  Trace Build() { return builder_.Build(); }

 private:
  TraceBuilder builder_;
  ProcessId process_;
  TrackId thread_ = TrackId::kNone;
};

struct NamedRow {
  std::string name;
  uint64_t allocations;
  int64_t allocated_bytes, peak_bytes;
  bool operator==(const NamedRow&) const = default;
};

std::ostream& operator<<(std::ostream& out, const NamedRow& row) {
  return out << row.name << " " << row.allocations << " " << row.allocated_bytes << " " << row.peak_bytes;
}

std::vector<NamedRow> NamedRowsOf(const Trace& trace, const MemoryUsage& usage) {
  std::vector<NamedRow> rows;
  for (const OperatorMemoryRow& row : usage.rows) {
    rows.push_back({row.is_before                 ? "(before)"
                    : row.name == StringId::kNone ? "(none)"
                                                  : std::string(trace.text(row.name)),
                    row.allocations, row.allocated_bytes, row.peak_bytes});
  }
  return rows;
}

using NamedRows = std::vector<NamedRow>;

Trace MemoryExample() {
  MemoryProgram program;
  program.Add("aten::empty", 5, 15);
  program.Add("aten::mm", 18, 25);
  program.Event(10, 100, 0xA, 300);
  program.Event(20, 50, 0xB, 350);
  program.Event(30, -100, 0xA, 250);
  program.Event(40, -120, 0x10, 130);
  return program.Build();
}

TEST(MemoryUsage, IsThatOfTheExampleOfTheDefinition) {
  const Trace trace = MemoryExample();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  ASSERT_EQ(usage.devices.size(), 1u);
  const DeviceMemoryRow& device = usage.devices[0];
  EXPECT_EQ(device.allocations, 2u);
  EXPECT_EQ(device.frees, 2u);
  EXPECT_EQ(device.allocated_bytes, 150);
  EXPECT_EQ(device.freed_bytes, 220);
  EXPECT_EQ(device.start_bytes, 200);
  EXPECT_EQ(device.end_bytes, 130);
  EXPECT_EQ(device.peak_bytes, 350);
  EXPECT_EQ(device.peak_ns, 20);
  EXPECT_EQ(device.peak_reserved_bytes, std::nullopt);
  EXPECT_EQ(device.kept, 1u);
  EXPECT_EQ(NamedRowsOf(trace, usage),
            (NamedRows{{"aten::empty", 1, 100, 100}, {"aten::mm", 1, 50, 50}, {"(before)", 0, 0, 200}}));
  EXPECT_TRUE(usage.steps.empty());
}

TEST(MemoryUsage, HasNoLiveAllocationsWhereTheStartIsThePeak) {
  MemoryProgram program;
  program.Event(10, -100, 0xA, 300);
  program.Event(20, 100, 0xA, 400);  // the level of the start again
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  EXPECT_EQ(usage.devices[0].peak_bytes, 400);
  EXPECT_EQ(usage.devices[0].peak_ns, 10);
  EXPECT_EQ(NamedRowsOf(trace, usage), (NamedRows{{"(none)", 1, 100, 0}, {"(before)", 0, 0, 400}}));
}

TEST(MemoryUsage, GivesAnAllocationToTheOpenHostSpanThatBeganLast) {
  MemoryProgram program;
  program.Add("PyTorch Profiler (0)", 0, 100, "Trace");
  program.Step(0, 0, 100);
  program.Add("outer", 10, 50);
  program.Add("crossing", 20, 60);
  program.Add("async", 0, 90, "cpu_op", span_flags::kAsync);
  program.Event(5, 1, 1);
  program.Event(10, 10, 2);  // a span contains its begin
  program.Event(30, 100, 3);
  program.Event(55, 1000, 4);   // beyond the end of the span around it
  program.Event(60, 10000, 5);  // and not its end
  const Trace trace = program.Build();
  EXPECT_EQ(NamedRowsOf(trace, MeasureMemoryUsage(trace)),
            (NamedRows{{"(none)", 2, 10001, 10001}, {"crossing", 2, 1100, 1100}, {"outer", 1, 10, 10}}));
}

TEST(MemoryUsage, EndsTheNewestAllocationOfAnAddressByAFree) {
  MemoryProgram program;
  program.Add("first", 0, 10);
  program.Add("second", 10, 20);
  program.Event(1, 100, 0xA);
  program.Event(11, 7, 0xA);  // the free before it is missing
  program.Event(21, -7, 0xA);
  program.Event(22, 60, 0xB);
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  EXPECT_EQ(usage.devices[0].kept, 2u);
  EXPECT_EQ(NamedRowsOf(trace, usage), (NamedRows{{"first", 1, 100, 100}, {"(none)", 1, 60, 60}, {"second", 1, 7, 0}}));
}

TEST(MemoryUsage, HasARestBelowZeroWhereMoreWasFreedThanIsKnown) {
  MemoryProgram program;
  program.Event(1, -30, 0xF, 0);
  program.Event(2, 100, 0xA);
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  EXPECT_EQ(usage.devices[0].start_bytes, 30);
  EXPECT_EQ(usage.devices[0].peak_bytes, 100);
  EXPECT_EQ(NamedRowsOf(trace, usage), (NamedRows{{"(none)", 1, 100, 100}}));
  MemoryProgram unknown;
  unknown.Event(1, 10, 0xA, -1);
  unknown.Event(2, -30, 0xF);
  unknown.Event(3, 100, 0xB);
  const Trace other = unknown.Build();
  EXPECT_EQ(NamedRowsOf(other, MeasureMemoryUsage(other)),
            (NamedRows{{"(none)", 2, 110, 110}, {"(before)", 0, 0, -30}}));
}

TEST(MemoryUsage, HasTheLevelOfEachStepOfTheRank) {
  MemoryProgram program(3);
  program.Step(7, 0, 20);
  program.Step(8, 20, 40);
  program.Step(9, 50, 60);
  program.Event(0, 5, 1, 105);  // at the begin: after it
  program.Event(10, 200, 2);
  program.Event(15, -200, 2);
  program.Event(20, 50, 3);    // in step 8
  program.Event(40, 1000, 4);  // in none
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  ASSERT_EQ(usage.steps.size(), 3u);
  const auto expect = [&](size_t i, int64_t number, int64_t start, int64_t end, int64_t peak) {
    const StepMemoryRow& step = usage.steps[i];
    EXPECT_EQ(step.place.rank, 3);
    EXPECT_EQ(step.number, number);
    EXPECT_EQ(step.start_bytes, start);
    EXPECT_EQ(step.end_bytes, end);
    EXPECT_EQ(step.peak_bytes, peak);
  };
  expect(0, 7, 100, 105, 305);
  expect(1, 8, 105, 155, 155);
  expect(2, 9, 1155, 1155, 1155);
}

TEST(MemoryUsage, LooksAtTheLevelWhileChosenSpansAreOpen) {
  MemoryProgram program;
  program.Step(0, 0, 20);
  program.Step(1, 20, 40);
  program.Add("warm_up", 2, 8);
  program.Add("train", 22, 28);
  program.Event(3, 100, 0xA, 150);
  program.Event(5, 900, 0xB);
  program.Event(10, -900, 0xB);
  program.Event(25, 30, 0xC);
  program.Event(35, -30, 0xC);
  program.Event(45, 5000, 0xD);
  const Trace trace = program.Build();
  std::vector<uint8_t> selected(trace.spans().size());
  for (size_t span = 0; span < selected.size(); ++span)
    selected[span] = trace.spans().start[span].ns >= 20;
  const MemoryUsage usage = MeasureMemoryUsage(trace, &selected);
  ASSERT_EQ(usage.devices.size(), 1u);
  const DeviceMemoryRow& device = usage.devices[0];
  EXPECT_EQ(device.allocations, 1u);
  EXPECT_EQ(device.freed_bytes, 30);
  EXPECT_EQ(device.start_bytes, 150);
  EXPECT_EQ(device.peak_bytes, 180);
  EXPECT_EQ(device.peak_ns, 25);
  EXPECT_EQ(device.end_bytes, 150);
  EXPECT_EQ(device.kept, 0u);
  EXPECT_EQ(NamedRowsOf(trace, usage),
            (NamedRows{{"warm_up", 0, 0, 100}, {"train", 1, 30, 30}, {"(before)", 0, 0, 50}}));
  ASSERT_EQ(usage.steps.size(), 1u);
  EXPECT_EQ(usage.steps[0].number, 1);
  EXPECT_EQ(usage.steps[0].start_bytes, 150);
  EXPECT_EQ(usage.steps[0].peak_bytes, 180);

  selected.assign(selected.size(), 0);
  EXPECT_TRUE(MeasureMemoryUsage(trace, &selected).devices.empty());
}

TEST(MemoryUsage, IsEmptyWithoutAllocations) {
  EXPECT_TRUE(MeasureMemoryUsage(TraceBuilder().Build()).devices.empty());
  MemoryProgram program;
  program.Step(0, 0, 10);
  program.Add("aten::mm", 1, 5);
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  EXPECT_TRUE(usage.devices.empty());
  EXPECT_TRUE(usage.rows.empty());
  EXPECT_TRUE(usage.steps.empty());
}

TEST(MemoryUsage, SaturatesWhereNumbersOfADamagedFileAddUpToAnything) {
  MemoryProgram program;
  program.Add("huge", INT64_MIN, -1);
  for (const int64_t bytes : {INT64_MIN, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN, int64_t{0}}) {
    program.Event(INT64_MIN, bytes, 0xA, INT64_MIN);
    program.Event(INT64_MAX, bytes, UINT64_MAX, INT64_MAX);
  }
  program.builder().AddAllocation({.time = {0}, .track = TrackId::kNone, .bytes = 1, .device_type = INT32_MIN});
  const Trace trace = program.Build();
  const MemoryUsage usage = MeasureMemoryUsage(trace);
  ASSERT_EQ(usage.devices.size(), 2u);
  EXPECT_EQ(usage.devices[1].allocated_bytes, INT64_MAX);
  EXPECT_EQ(usage.devices[1].freed_bytes, INT64_MAX);
  EXPECT_EQ(usage.devices[1].allocations, 4u);
  EXPECT_EQ(usage.devices[1].frees, 6u);
}

TEST(MemoryUsage, FindsSpansWhoseRowsAreNotByBegin) {
  MemoryProgram program;
  program.builder().SetPreOrdered(program.thread());
  program.Add("late", 50, 60);
  program.Add("early", 10, 20);
  program.Event(15, 1, 1);
  program.Event(55, 2, 2);
  const Trace trace = program.Build();
  EXPECT_EQ(NamedRowsOf(trace, MeasureMemoryUsage(trace)), (NamedRows{{"late", 1, 2, 2}, {"early", 1, 1, 1}}));
}

TEST(MemoryUsage, EndsItsStepsWhereADamagedFileHasTooMany) {
  MemoryProgram program;
  for (int32_t device = 0; device < 3000; ++device)
    program.builder().AddAllocation({.time = {device}, .track = program.thread(), .bytes = 1, .device = device});
  for (int64_t step = 0; step < 3000; ++step)
    program.Step(step, step * 10, step * 10 + 5);
  const MemoryUsage usage = MeasureMemoryUsage(program.Build());
  EXPECT_EQ(usage.steps.size(), MemoryUsage::kMaxSteps);
  EXPECT_EQ(usage.omitted_steps, 9'000'000 - MemoryUsage::kMaxSteps);
}

}  // namespace
}  // namespace opscope

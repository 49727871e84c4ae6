// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "opscope/torch/function_events.h"
#include "trace/builder.h"

namespace opscope {
namespace {

// A process with two threads and a device; every span has a name of its own.
class CudaProgram {
 public:
  CudaProgram() {
    process_ = builder_.AddProcess({.pid = 1});
    for (const int64_t tid : {1, 2})
      threads_.push_back(builder_.AddTrack({.process = process_, .tid = tid}));
    ranges_ = AddDeviceTrack(TrackKind::kDeviceAnnotation);
    stream_ = AddDeviceTrack(TrackKind::kDeviceStream);
  }
  SpanRow& Host(const char* name, const char* category, int64_t start, int64_t end, int64_t tid = 1) {
    return Add(name, category, start, end, threads_[static_cast<size_t>(tid - 1)]);
  }
  SpanRow& Device(const char* name, const char* category, int64_t start, int64_t end) {
    return Add(name, category, start, end, std::string_view(category) == kRange ? ranges_ : stream_);
  }
  TraceBuilder& builder() { return builder_; }
  ProcessId process() const { return process_; }

  struct Result {
    Trace trace;
    FunctionEvents events;
    size_t Row(std::string_view name) const {
      size_t i = 0;
      while (i < events.size() && NameText(trace, events, i) != name)
        ++i;
      return i;
    }
    std::string ParentOf(std::string_view name) const {
      const EventIndex parent = events.parent[Row(name)];
      return parent == EventIndex::kNone ? "" : std::string(NameText(trace, events, opscope::Row(parent)));
    }
  };
  Result Build() {
    for (const SpanRow& row : rows_)
      builder_.AddSpan(row);
    Trace trace = builder_.Build();
    FunctionEvents events = BuildFunctionEvents(trace);
    return {std::move(trace), std::move(events)};
  }

  static constexpr std::string_view kRange = "gpu_user_annotation";

 private:
  TrackId AddDeviceTrack(TrackKind kind) {
    return builder_.AddTrack({.process = process_, .kind = kind, .tid = 7, .device = 0});
  }
  SpanRow& Add(const char* name, const char* category, int64_t start, int64_t end, TrackId track) {
    return rows_.emplace_back(SpanRow{.start = {start},
                                      .duration = {end - start},
                                      .name = builder_.Intern(name),
                                      .category = builder_.Intern(category),
                                      .track = track});
  }

  TraceBuilder builder_;
  ProcessId process_;
  std::vector<TrackId> threads_;
  TrackId stream_ = TrackId::kNone, ranges_ = TrackId::kNone;
  std::list<SpanRow> rows_;
};

TEST(LinkDeviceEvents, ARangeOfADeviceIsNoWorkOfTheRange) {
  CudaProgram program;
  program.Host("forward", "user_annotation", 0, 100).external_id = 3;
  program.Host("aten::mm", "cpu_op", 10, 50).external_id = 4;
  SpanRow& kernel = program.Device("gemm", "kernel", 2000, 5000);
  kernel.external_id = 4;
  kernel.correlation = 90;
  program.Device("forward on the device", CudaProgram::kRange.data(), 1999, 5001).external_id = 3;
  const CudaProgram::Result result = program.Build();
  const auto& [trace, events] = result;
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(events, result.Row("forward")), 3);
  EXPECT_DOUBLE_EQ(SelfDeviceTimeTotal(events, result.Row("forward")), 0);
  const size_t range = result.Row("forward on the device");
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(events, range), 3) << "as long as its work, not as the file shows it";
  EXPECT_EQ(TimesOf(trace, events.span[range]).start, Timestamp{2000});
  EXPECT_EQ(TimesOf(trace, events.span[range]).end, Timestamp{5000});
  EXPECT_LT(result.Row("gemm"), range) << "Kineto lists ranges behind all work";
  EXPECT_EQ(CorrelationId(trace, events, range), 3);
  EXPECT_EQ(LinkedCorrelationId(trace, events, range), 0);
  EXPECT_EQ(LinkedCorrelationId(trace, events, result.Row("gemm")), 4);
}

TEST(SumDeviceTimes, AddsKernelsAsPythonsSumDoes) {
  CudaProgram program;
  program.Host("aten::mm", "cpu_op", 0, 50).external_id = 4;
  for (const int64_t end : {100, 200, 700}) {
    SpanRow& kernel = program.Device("gemm", "kernel", 0, end);
    kernel.external_id = 4;
    kernel.correlation = 90;
  }
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(DeviceTimeTotal(result.events, result.Row("aten::mm")), 0.7 + 0.2 + 0.1) << "the longest begins the list";
  FunctionEventOptions as_python_3_12;
  as_python_3_12.compensated_sums = true;
  const FunctionEvents compensated = BuildFunctionEvents(result.trace, as_python_3_12);
  EXPECT_EQ(DeviceTimeTotal(compensated, result.Row("aten::mm")), 1) << "from Python 3.12 on";
}

TEST(LinkDeviceEvents, AWaitThatNoOpMadeIsNotOfTheOpWithItsCorrelation) {
  CudaProgram program;
  program.Host("aten::mm", "cpu_op", 10, 50).external_id = 4;
  SpanRow& wait = program.Device("Context Sync", "cuda_sync", 60, 90);
  wait.external_id = wait.correlation = 4;
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(DeviceTimeTotal(result.events, result.Row("aten::mm")), 0);
}

// Two ops of a second thread, the second with a call that has its own correlation as its id. So have those of the first
// op, or its id. The main thread has a range all the while.
CudaProgram::Result CallWithAnIdOfItsOwn(bool others_have_that_of_their_op) {
  CudaProgram program;
  program.Host("range", "user_annotation", 0, 100, 1).external_id = 3;
  program.Host("aten::mm", "cpu_op", 10, 40, 2).external_id = 4;
  for (const uint32_t correlation : {90u, 91u}) {
    SpanRow& call = program.Host(correlation == 90 ? "zeroth" : "first", "cuda_runtime", correlation == 90 ? 15 : 25,
                                 correlation == 90 ? 20 : 30, 2);
    call.correlation = correlation;
    call.external_id = others_have_that_of_their_op ? 4 : correlation;
  }
  program.Host("aten::add", "cpu_op", 50, 80, 2).external_id = 5;
  SpanRow& second = program.Host("second", "cuda_runtime", 60, 70, 2);
  second.correlation = second.external_id = 92;
  SpanRow& kernel = program.Device("second's kernel", "kernel", 2000, 5000);
  kernel.correlation = kernel.external_id = 92;
  return program.Build();
}

TEST(LinkDeviceEvents, AnOwnIdIsOfNoOpWhereOtherCallsHaveThoseOfTheirOps) {
  const CudaProgram::Result result = CallWithAnIdOfItsOwn(true);
  EXPECT_EQ(result.ParentOf("first"), "aten::mm");
  EXPECT_EQ(result.ParentOf("second"), "range") << "on the thread that stopped the profiler";
  EXPECT_DOUBLE_EQ(SelfCpuTimeTotal(result.events, result.Row("aten::add")), 0.03);
  EXPECT_EQ(DeviceTimeTotal(result.events, result.Row("aten::add")), 0);
}

TEST(LinkDeviceEvents, AnOwnIdIsTheOpAroundWhereAllCallsHaveOne) {
  const CudaProgram::Result result = CallWithAnIdOfItsOwn(false);
  EXPECT_EQ(result.ParentOf("first"), "aten::mm");
  EXPECT_EQ(result.ParentOf("second"), "aten::add");
  EXPECT_DOUBLE_EQ(SelfCpuTimeTotal(result.events, result.Row("aten::add")), 0.02);
  EXPECT_DOUBLE_EQ(DeviceTimeTotal(result.events, result.Row("aten::add")), 3);
}

// A call on each thread that no op made, within a range of each thread.
void AddUnlinkedCalls(CudaProgram* program) {
  for (const int64_t tid : {1, 2}) {
    const bool is_first = tid == 1;
    program->Host(is_first ? "range 1" : "range 2", "user_annotation", 0, 100, tid).external_id = 3;
    const int64_t start = is_first ? 20 : 50;
    program->Host(is_first ? "call 1" : "call 2", "cuda_runtime", start, start + 10, tid).correlation = 90;
  }
}

TEST(PlaceUnlinkedCalls, TheMainThreadHasThemWhicheverThreadMadeThem) {
  CudaProgram program;
  AddUnlinkedCalls(&program);
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(result.ParentOf("call 1"), "range 1");
  EXPECT_EQ(result.ParentOf("call 2"), "range 1");
  EXPECT_DOUBLE_EQ(SelfCpuTimeTotal(result.events, result.Row("range 1")), 0.08);
  EXPECT_DOUBLE_EQ(SelfCpuTimeTotal(result.events, result.Row("range 2")), 0.1);
}

TEST(PlaceUnlinkedCalls, TheThreadThatTheMetadataNamesHasThem) {
  CudaProgram program;
  AddUnlinkedCalls(&program);
  program.builder().AddMetadata(kStoppingThreadKey, "2");
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(result.ParentOf("call 1"), "range 2");
  EXPECT_EQ(result.ParentOf("call 2"), "range 2");
}

TEST(PlaceUnlinkedCalls, OverheadOfAnotherProcessGoesToTheThreadOfItsRank) {
  CudaProgram program;
  AddUnlinkedCalls(&program);
  TraceBuilder& builder = program.builder();
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = -1}), .kind = TrackKind::kOther});
  program.Host("Buffer Flush", "overhead", 70, 80).track = track;
  EXPECT_EQ(program.Build().ParentOf("Buffer Flush"), "range 1");
}

TEST(PlaceUnlinkedCalls, WithoutMetadataNoThreadNumberStandsForAnUnknownThread) {
  CudaProgram program;
  AddUnlinkedCalls(&program);
  program.Host("range of -1", "user_annotation", 0, 100).track =
      program.builder().AddTrack({.process = program.process(), .tid = -1});
  EXPECT_EQ(program.Build().ParentOf("call 1"), "range 1");
}

TEST(PlaceUnlinkedCalls, TakesLinearTimeForManyProcessesWithoutThatThread) {
  constexpr uint32_t kProcesses = 10'000;
  TraceBuilder builder;
  const StringId name = builder.Intern("call"), category = builder.Intern("cuda_runtime");
  for (uint32_t i = 0; i < kProcesses; ++i) {
    const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 2 * i}), .tid = 2 * i + 1});
    builder.AddSpan({.start = {i}, .duration = {1}, .name = name, .category = category, .track = track});
  }
  const Trace trace = builder.Build();
  EXPECT_EQ(BuildFunctionEvents(trace).size(), size_t{kProcesses});
}

// Torch takes them for events of the CPU.
TEST(PlaceUnlinkedCalls, RecordsOfEventsNestAmongTheOpsByTheirTimes) {
  CudaProgram program;
  program.Host("aten::mm", "cpu_op", 10, 50).external_id = 4;
  program.Host("forward", "user_annotation", 60, 100).external_id = 5;
  program.Device("linked", "cuda_event", 20, 21).external_id = 4;
  program.Device("alone", "cuda_event", 70, 71).correlation = 9;
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(result.ParentOf("linked"), "aten::mm");
  EXPECT_EQ(result.ParentOf("alone"), "forward");
  EXPECT_EQ(DeviceTimeTotal(result.events, result.Row("aten::mm")), 0);
}

TEST(PlaceUnlinkedCalls, WithoutThatThreadTheyNestInEachOtherAlone) {
  CudaProgram program;
  program.Host("op", "cpu_op", 0, 100, 2).external_id = 3;
  program.Host("outer", "cuda_runtime", 10, 50, 2).correlation = 90;
  program.Host("inner", "cuda_driver", 20, 30, 2).correlation = 91;
  const CudaProgram::Result result = program.Build();
  EXPECT_EQ(result.ParentOf("outer"), "");
  EXPECT_EQ(result.ParentOf("inner"), "outer");
}

}  // namespace
}  // namespace opscope

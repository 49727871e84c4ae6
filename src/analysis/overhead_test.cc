// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/overhead.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/random_trace_for_test.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/torch/function_events.h"

namespace opscope {
namespace {

// Powers of two: every sum tells which costs are in it.
MeasuredOverheads Costs() {
  MeasuredOverheads costs;
  const auto add = [&](std::string_view source, SpanKind kind, const EventCost& cost) -> OverheadRow& {
    OverheadRow& row = costs.rows.emplace_back();
    row.source = source, row.kind = kind, row.cost = cost;
    return row;
  };
  const EventCost scope = {.begin_ns = 48, .end_ns = 16, .inside_ns = 32};  // 32 outside
  const EventCost op = {.begin_ns = 256, .end_ns = 512, .inside_ns = 512};  // 256 outside
  add(MeasuredOverheads::kProgram, SpanKind::kUserRange, scope).async_end_ns = 64;
  add(MeasuredOverheads::kProgram, SpanKind::kOther, {.begin_ns = 128});
  add("torch", SpanKind::kOperator, op).argument = {.begin_ns = 3072, .inside_ns = 1024};  // 2048 outside
  add("torch", SpanKind::kUserRange, {.begin_ns = 4096, .end_ns = 8192, .inside_ns = 4096});
  add(MeasuredOverheads::kPython, SpanKind::kPythonFunction, {.begin_ns = 16384, .inside_ns = 8192});  // 8192 outside
  add(MeasuredOverheads::kPython, SpanKind::kCFunction, {.begin_ns = 65536, .inside_ns = 32768});      // 32768 outside
  add(MeasuredOverheads::kPython, SpanKind::kModule, {.begin_ns = 262144, .inside_ns = 131072});
  return costs;
}

class RecordingOverhead : public testing::Test {
 protected:
  RecordingOverhead() {
    builder_.info().overheads = Costs();
    track_ = builder_.AddTrack({.process = builder_.AddProcess({.pid = 1}), .tid = 1});
  }
  void Forget(std::string_view source) {
    std::erase_if(builder_.info().overheads->rows, [&](const OverheadRow& row) { return row.source == source; });
  }
  void Add(const char* name, int64_t start, int64_t end, uint8_t flags = span_flags::kNative,
           ScopeType scope = ScopeType::kUserScope, ArgsId args = ArgsId::kNone) {
    builder_.AddSpan({.start = {start},
                      .duration = {end - start},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern("cpu_op"),
                      .track = track_,
                      .flags = flags,
                      .scope = scope,
                      .args = args});
  }

  TraceBuilder builder_;
  TrackId track_ = TrackId::kNone;
};

double At(const Trace& trace, const std::vector<double>& column, std::string_view name) {
  for (size_t row = 0; row < trace.spans().size(); ++row) {
    if (trace.text(trace.spans().name[row]) == name) return column[row];
  }
  ADD_FAILURE() << "no span " << name;
  return -1;
}

TEST_F(RecordingOverhead, GivesTheInsideToTheSpanAndTheRestToItsParent) {
  Add("outer", 0, 10'000);
  Add("middle", 100, 5'000);
  Add("inner", 200, 300);
  Add("second", 6'000, 6'100);
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  EXPECT_EQ(At(trace, cost.own_ns, "inner"), 32);
  EXPECT_EQ(At(trace, cost.own_ns, "middle"), 32 + 32);
  EXPECT_EQ(At(trace, cost.own_ns, "outer"), 32 + 2 * 32);
  EXPECT_EQ(At(trace, cost.subtree_ns, "middle"), 32 + 64);
  EXPECT_EQ(At(trace, cost.subtree_ns, "outer"), 32 + 3 * 64);
  EXPECT_EQ(cost.whole_ns, 4 * 64);
  EXPECT_EQ(cost.events, 4u);
}

TEST_F(RecordingOverhead, TellsNativeScopesOperatorsAndRangesApart) {
  std::vector<ArgumentRow> tensors(2);
  tensors[0].kind = tensors[1].kind = ArgumentKind::kTensor;
  Add("range", 0, 90'000, 0);
  Add("op", 10, 20'000, 0, ScopeType::kFunction);
  Add("op with two arguments", 30'000, 50'000, 0, ScopeType::kFunction, builder_.AddArguments(tensors));
  Add("call of Python", 60'000, 60'010, 0, ScopeType::kUnknown);
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  EXPECT_EQ(At(trace, cost.own_ns, "op"), 512);
  EXPECT_EQ(At(trace, cost.own_ns, "op with two arguments"), 512 + 2 * 1024);
  EXPECT_EQ(At(trace, cost.own_ns, "call of Python"), 0);
  EXPECT_EQ(At(trace, cost.own_ns, "range"), 4096 + 256 + (256 + 2 * 2048));
  EXPECT_EQ(cost.events, 3u);
}

class OverheadOfCalls : public RecordingOverhead {
 protected:
  void AddCall(const char* name, int64_t start, int64_t end) {
    builder_.AddSpan({.start = {start},
                      .duration = {end - start},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern("python_function"),
                      .track = track_});
  }
};

TEST_F(OverheadOfCalls, TellsFunctionsOfPythonAndOfCAndModulesApart) {
  AddCall("train.py(3): main", 0, 900'000);
  AddCall("<string>(1): <lambda>", 100, 200);
  AddCall("<built-in function len>", 300, 400);
  AddCall("<method 'x' of 'a (3): b' objects>", 500, 600);
  AddCall("nn.Module: Linear_0", 700, 800);
  AddCall("Python GC", 850, 860);
  builder_.SetPythonCalls();
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  EXPECT_EQ(At(trace, cost.own_ns, "<string>(1): <lambda>"), 8192);
  EXPECT_EQ(At(trace, cost.own_ns, "<built-in function len>"), 32768);
  EXPECT_EQ(At(trace, cost.own_ns, "nn.Module: Linear_0"), 131072);
  EXPECT_EQ(At(trace, cost.own_ns, "Python GC"), 0);
  EXPECT_EQ(At(trace, cost.own_ns, "train.py(3): main"), 8192 + 8192 + 2 * 32768 + 131072);
  EXPECT_EQ(cost.events, 5u);
}

TEST_F(OverheadOfCalls, ThatCouldNotBeMeasuredIsAnError) {
  Forget(MeasuredOverheads::kPython);
  AddCall("train.py(3): main", 0, 900);
  builder_.SetPythonCalls();
  const Trace trace = builder_.Build();
  const Result<SpanOverheads> cost = MeasureOverhead(trace);
  ASSERT_FALSE(cost.ok());
  EXPECT_EQ(cost.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(cost.error().message.find("a call of Python"), std::string::npos);
}

TEST_F(RecordingOverhead, ChargesPointsAndEndsOfAsynchronousSpansToWhatWasInnermost) {
  Add("first", 0, 1'000);
  Add("second", 2'000, 3'000);
  Add("async", 500, 2'500, span_flags::kNative | span_flags::kAsync);
  builder_.AddCounter({.time = {10}, .name = builder_.Intern("c"), .track = track_});
  builder_.AddInstant({.time = {2'010}, .name = builder_.Intern("i"), .track = track_});
  builder_.AddInstant({.time = {2'010}, .name = builder_.Intern("[memory]"), .track = track_});
  builder_.AddCounter({.time = {1'500}, .name = builder_.Intern("c"), .track = track_});
  for (const int64_t end : {2'100, 2'200}) {
    builder_.AddFlow({.id = 1,
                      .category = builder_.Intern("flow"),
                      .start_time = {20},
                      .start_track = track_,
                      .end_time = {end},
                      .end_track = track_});
  }
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  EXPECT_EQ(At(trace, cost.own_ns, "first"), 32 + 48 + 2 * 128) << "a counter, and the begin of the flow once";
  EXPECT_EQ(At(trace, cost.own_ns, "second"), 32 + 64 + 3 * 128) << "an instant, and both ends of the flow";
  EXPECT_EQ(At(trace, cost.own_ns, "async"), 32);
  EXPECT_EQ(cost.events, 3u + 6u);
  EXPECT_EQ(cost.whole_ns, 2 * 64 + (48 + 64) + 6 * 128);
}

TEST_F(RecordingOverhead, LeavesDevicesAlone) {
  const TrackId stream =
      builder_.AddTrack({.process = builder_.AddProcess({.pid = 0}), .kind = TrackKind::kDeviceStream, .device = 0});
  builder_.AddSpan(
      {.duration = {50}, .name = builder_.Intern("kernel"), .track = stream, .scope = ScopeType::kFunction});
  const Trace trace = builder_.Build();
  EXPECT_EQ(MeasureOverhead(trace).value().own_ns, std::vector<double>{0});
}

TEST_F(RecordingOverhead, OfOperatorsThatCouldNotBeMeasuredIsAnError) {
  Forget("torch");
  Add("scope", 0, 10'000);
  Add("op", 10, 2'000, 0, ScopeType::kFunction);
  const Trace trace = builder_.Build();
  const Result<SpanOverheads> cost = MeasureOverhead(trace);
  ASSERT_FALSE(cost.ok());
  EXPECT_EQ(cost.error().code, ErrorCode::kUnsupported);
}

TEST_F(RecordingOverhead, NeedsNoFiguresOfTorchWhereThereIsNoTorch) {
  Forget("torch");
  Add("scope", 0, 10'000);
  const Trace trace = builder_.Build();
  EXPECT_EQ(MeasureOverhead(trace).value().whole_ns, 64);
}

TEST(OverheadOfInput, ThatSaysNothingIsAnErrorThatTellsWhy) {
  TraceBuilder builder;
  builder.info().format = "chrome-json";
  const Trace trace = builder.Build();
  const Result<SpanOverheads> cost = MeasureOverhead(trace);
  ASSERT_FALSE(cost.ok());
  EXPECT_EQ(cost.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(cost.error().message.find("its format, chrome-json"), std::string::npos) << cost.error().message;
}

// What a program would show that runs the same without being recorded: total and self of the summary.
TEST_F(RecordingOverhead, MakesTheSummaryThatOfTheProgramAlone) {
  // Without the recorder: outer 1000 with two calls of f, 100 each, and 800 of its own.
  Add("outer", 0, 1'000 + 32 + 2 * 64);
  Add("f", 500, 500 + 100 + 32);
  Add("f", 800, 800 + 100 + 32);
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  const OpSummary summary = SummarizeOps(trace, {.overhead = &cost});
  ASSERT_EQ(summary.rows.size(), 2u);
  EXPECT_EQ(summary.rows[0].total_ns, 1'000);
  EXPECT_EQ(summary.rows[0].self_ns, 800);
  EXPECT_EQ(summary.rows[1].total_ns, 200);
  EXPECT_EQ(summary.rows[1].min_ns, 100);
  EXPECT_EQ(summary.rows[1].max_ns, 100);
  EXPECT_EQ(summary.rows[1].mean_ns(), 100);
  EXPECT_EQ(summary.thread_self_ns, 1'000);
  ASSERT_TRUE(summary.correction.has_value());
  EXPECT_EQ(summary.correction->below_zero, 0u);
  EXPECT_EQ(summary.correction->whole_ns, 3 * 64);
  EXPECT_FALSE(SummarizeOps(trace).correction.has_value());
}

TEST_F(RecordingOverhead, AddsUpWhatIsBelowZeroAndShowsNothingBelowIt) {
  Add("f", 0, 30);     // 2 below 0
  Add("f", 100, 140);  // 8 above
  Add("g", 200, 210);  // 22 below
  const Trace trace = builder_.Build();
  const SpanOverheads cost = MeasureOverhead(trace).value();
  const OpSummary summary = SummarizeOps(trace, {.overhead = &cost});
  EXPECT_EQ(summary.rows[0].total_ns, 6);
  EXPECT_EQ(summary.rows[0].self_ns, 6);
  EXPECT_EQ(summary.rows[0].min_ns, 0);
  EXPECT_EQ(summary.rows[0].max_ns, 8);
  EXPECT_EQ(summary.rows[1].total_ns, 0);
  EXPECT_EQ(summary.rows[1].self_ns, 0);
  EXPECT_EQ(summary.correction->below_zero, 2u);
}

TEST_F(RecordingOverhead, CorrectsTorchsAveragesToo) {
  Add("outer", 0, 10'000 + 512 + 2 * 768, 0, ScopeType::kFunction);
  Add("f", 2'000, 2'000 + 1'000 + 512, 0, ScopeType::kFunction);
  Add("f", 6'000, 6'000 + 3'000 + 512, 0, ScopeType::kFunction);
  const Trace trace = builder_.Build();
  FunctionEvents events = BuildFunctionEvents(trace);
  const Correction correction = CorrectFunctionEvents(MeasureOverhead(trace).value(), &events);
  EXPECT_EQ(correction.below_zero, 0u);
  EXPECT_EQ(correction.events, 3u);
  const std::vector<FunctionEventAverage> rows = AverageFunctionEvents(trace, events);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_DOUBLE_EQ(rows[0].cpu_time_total_us, 10);
  EXPECT_DOUBLE_EQ(rows[0].self_cpu_time_total_us, 6);
  EXPECT_DOUBLE_EQ(rows[1].cpu_time_total_us, 4);
  EXPECT_DOUBLE_EQ(rows[1].self_cpu_time_total_us, 4);
}

TEST_F(RecordingOverhead, OfAnAverageIsNeverBelowZero) {
  Add("f", 0, 100, 0, ScopeType::kFunction);
  const Trace trace = builder_.Build();
  FunctionEvents events = BuildFunctionEvents(trace);
  EXPECT_EQ(CorrectFunctionEvents(MeasureOverhead(trace).value(), &events).below_zero, 1u);
  EXPECT_EQ(AverageFunctionEvents(trace, events)[0].cpu_time_total_us, 0);
  EXPECT_EQ(TotalAverage(trace, events).self_cpu_time_total_us, 0);
}

// The definitions, one span at a time.
TEST(OverheadOfRandomTraces, EqualsTheObviousImplementation) {
  for (uint64_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Trace plain = RandomTrace(seed, {.spans = 3 + static_cast<int>(seed % 20), .end = 40});
    TraceBuilder builder;
    builder.info().overheads = Costs();
    const SpanColumns& from = plain.spans();
    std::vector<TrackId> tracks;
    for (size_t i = 0; i < plain.tracks().size(); ++i)
      tracks.push_back(builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = static_cast<int64_t>(i)}));
    for (size_t i = 0; i < from.size(); ++i) {
      if ((from.flags[i] & span_flags::kAsync) != 0) continue;
      builder.AddSpan({.start = from.start[i],
                       .duration = from.duration[i],
                       .name = builder.Intern("s"),
                       .track = tracks[Row(from.track[i])],
                       .flags = i % 2 == 0 ? span_flags::kNative : uint8_t{0},
                       .scope = ScopeType::kFunction});
    }
    const Trace trace = builder.Build();
    const SpanColumns& spans = trace.spans();
    const SpanOverheads cost = MeasureOverhead(trace).value();
    const MeasuredOverheads costs = Costs();
    const EventCost scope = costs.Find(MeasuredOverheads::kProgram, SpanKind::kUserRange)->cost;
    const EventCost op = costs.FindOfFramework(SpanKind::kOperator)->cost;
    const auto of = [&](size_t i) { return (spans.flags[i] & span_flags::kNative) != 0 ? scope : op; };
    for (size_t i = 0; i < spans.size(); ++i) {
      double own = of(i).inside_ns, subtree = own;
      for (size_t c = 0; c < spans.size(); ++c) {
        if (spans.parent[c] == SpanId{static_cast<uint32_t>(i)}) own += of(c).outside_ns();
        for (SpanId p = spans.parent[c]; p != SpanId::kNone; p = spans.parent[Row(p)]) {
          if (Row(p) == i) subtree += of(c).whole_ns();
        }
      }
      EXPECT_EQ(cost.own_ns[i], own);
      EXPECT_EQ(cost.subtree_ns[i], subtree);
    }
  }
}

}  // namespace
}  // namespace opscope

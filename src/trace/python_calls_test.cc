// SPDX-License-Identifier: Apache-2.0
#include "trace/python_calls.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/builder.h"

namespace opscope {
namespace {

// A program on two threads: frames, an operator that calls back into Python, a module.
class PythonProgram {
 public:
  PythonProgram() {
    const ProcessId process = builder_.AddProcess({.pid = 1});
    main_ = builder_.AddTrack({.process = process, .tid = 1});
    other_ = builder_.AddTrack({.process = process, .tid = 2});
    Call("train.py(1): main", 0, 100, main_);
    Call("nn.Module: Linear_3", 10, 50, main_);
    Op("aten::linear", 20, 40, main_);
    Call("hook.py(2): hook", 25, 30, main_);
    Op("aten::add", 60, 70, main_);
    Call("loader.py(3): next", 5, 15, other_);
  }

  Trace Build(bool fill_stacks) {
    builder_.SetPythonCalls();
    if (fill_stacks) builder_.FillStacksFromCalls();
    return builder_.Build();
  }
  TraceBuilder& builder() { return builder_; }
  TrackId main() const { return main_; }

 private:
  void Call(std::string_view name, int64_t start, int64_t end, TrackId track) {
    Add(name, "python_function", start, end, track);
  }
  void Op(std::string_view name, int64_t start, int64_t end, TrackId track) { Add(name, "cpu_op", start, end, track); }
  void Add(std::string_view name, std::string_view category, int64_t start, int64_t end, TrackId track) {
    builder_.AddSpan({.start = {start},
                      .duration = {end - start},
                      .name = builder_.Intern(name),
                      .category = builder_.Intern(category),
                      .track = track});
  }

  TraceBuilder builder_;
  TrackId main_, other_;
};

std::string StackOf(const Trace& trace, size_t span) {
  std::string text;
  const StackColumns& stacks = trace.stacks();
  for (StackId id = trace.spans().stack[span]; id != StackId::kNone; id = stacks.caller[Row(id)]) {
    text += trace.text(trace.frames().text[Row(stacks.frame[Row(id)])]);
    text += ';';
  }
  return text;
}

TEST(PythonCalls, AreNumberedByStartAndKnowTheirCallers) {
  const Trace trace = PythonProgram().Build(false);
  const PythonCallColumns& calls = trace.python_calls();
  ASSERT_EQ(calls.size(), 4u);
  const auto rows = [](auto column) { return std::vector(column.begin(), column.end()); };
  EXPECT_EQ(rows(calls.span), (std::vector<SpanId>{SpanId{0}, SpanId{1}, SpanId{3}, SpanId{5}}));
  EXPECT_EQ(rows(calls.id), (std::vector<uint32_t>{1, 3, 4, 2}));
  EXPECT_EQ(rows(calls.caller), (std::vector<uint32_t>{0, 1, 3, 0}));
  EXPECT_EQ(rows(calls.module_id), (std::vector<int32_t>{-1, 3, -1, -1}));
  EXPECT_EQ(rows(calls.thread), (std::vector<int32_t>{-1, -1, -1, -1}));
  for (size_t span = 0; span < trace.spans().size(); ++span)
    EXPECT_EQ(trace.spans().stack[span], StackId::kNone);
}

TEST(PythonCalls, AreTheStackOfWhatTheyHold) {
  const Trace trace = PythonProgram().Build(true);
  EXPECT_EQ(StackOf(trace, 0), "");
  EXPECT_EQ(StackOf(trace, 1), "train.py(1): main;");
  EXPECT_EQ(StackOf(trace, 2), "nn.Module: Linear_3;train.py(1): main;");
  EXPECT_EQ(StackOf(trace, 3), StackOf(trace, 2));
  EXPECT_EQ(StackOf(trace, 4), "train.py(1): main;");
  EXPECT_EQ(StackOf(trace, 5), "");
  EXPECT_EQ(trace.stacks().size(), 4u);  // one per distinct stack
  EXPECT_EQ(trace.python_calls().thread[0], 0);
  EXPECT_EQ(trace.python_calls().thread[3], 1);
}

TEST(PythonCalls, LeaveAStackThatIsThere) {
  PythonProgram program;
  TraceBuilder& builder = program.builder();
  const StackId scripted = builder.AddStack(builder.AddFrame(builder.Intern("script.py(4): forward")), StackId::kNone);
  builder.AddSpan({.start = {80},
                   .duration = {5},
                   .name = builder.Intern("aten::mul"),
                   .track = program.main(),
                   .stack = scripted});
  const Trace trace = program.Build(true);
  EXPECT_EQ(StackOf(trace, 5), "script.py(4): forward;");
}

TEST(PythonCalls, AreTheStackOfAsynchronousSpansToo) {
  PythonProgram program;
  program.builder().AddSpan({.start = {12},
                             .duration = {500},
                             .name = program.builder().Intern("future"),
                             .track = program.main(),
                             .flags = span_flags::kAsync});
  const Trace trace = program.Build(true);
  EXPECT_EQ(trace.text(trace.spans().name[5]), "future");
  EXPECT_EQ(StackOf(trace, 5), "nn.Module: Linear_3;train.py(1): main;");
}

TEST(PythonCalls, GivenOnesFollowTheirSpans) {
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const AddedSpan late = builder.AddSpan({.start = {50}, .duration = {1}, .track = track});
  const AddedSpan early = builder.AddSpan({.start = {10}, .duration = {1}, .track = track});
  builder.AddPythonCall({.span = late, .id = 9, .caller = 7, .module_id = 2, .thread = 1});
  builder.AddPythonCall({.span = early, .id = 7});
  const Trace trace = builder.Build();
  const PythonCallColumns& calls = trace.python_calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls.span[0], SpanId{0});
  EXPECT_EQ(calls.id[0], 7u);
  EXPECT_EQ(calls.span[1], SpanId{1});
  EXPECT_EQ(calls.id[1], 9u);
  EXPECT_EQ(calls.caller[1], 7u);
  EXPECT_EQ(calls.module_id[1], 2);
  EXPECT_EQ(calls.thread[1], 1);
}

}  // namespace
}  // namespace opscope

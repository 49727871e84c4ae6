// The calls of a timeline as operators.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <utility>

#include "opscope/import.h"
#include "opscope/megengine/operator_profile.h"
#include "trace/builder.h"

namespace opscope {
namespace {

using testing::ElementsAre;

std::string Event(const char* phase, const std::string& name, int tid, double us, const std::string& more = "") {
  return R"({"name":")" + name + R"(","ph":")" + phase + R"(","pid":7,"tid":)" + std::to_string(tid) +
         ",\"ts\":" + std::to_string(us) + more + "},";
}
std::string Operator(int id) {
  return R"(,"args":{"__id__":)" + std::to_string(id) + R"(,"__name__":"ADD"})";
}
std::string Tensor(const char* dtype) {
  return std::string(R"(,"args":{"dtype":")") + dtype + R"(","id":3,"nr_elements":6,"shape":"{2,3}"})";
}

// `text`: the beginning of a timeline, with a comma after its last event.
Trace ImportTimeline(std::string text) {
  text.pop_back();
  text += R"(],"metadata":{"localTime":"1795437763119534766"}})";
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "timeline");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

// An operator of the worker in two scopes, whose kernel runs from `kernel` on for 2 us, and one of the program's
// thread.
Trace Timeline(double kernel, const char* output) {
  std::string text = R"({"traceEvents":[)";
  for (const int id : {5, 6})
    text += Event("B", "OpDispatch", 0, 1) + Event("E", "OpDispatch", 0, 1, Operator(id));
  text += Event("B", "outer", 1, 2) + Event("B", "inner", 1, 2.5) + Event("B", "ADD", 1, 3);
  text += Event("B", "Input 3", 1, 3.5, Tensor("Int32")) + Event("E", "Input 3", 1, 4, Tensor("Int32"));
  text += Event("B", "Output 4", 1, 6, Tensor(output)) + Event("E", "Output 4", 1, 6.5, Tensor(output));
  text += Event("E", "ADD", 1, 8, Operator(5)) + Event("E", "inner", 1, 9) + Event("E", "outer", 1, 10);
  text += Event("B", "ADD", 2, kernel, R"(,"cat":"Kernel")");
  text += Event("E", "ADD", 2, kernel + 2, Operator(5) + R"(,"cat":"Kernel")");
  for (const auto& [tid, name] : {std::pair(0, "interpreter"), {1, "worker"}, {2, "xpux:0"}})
    text += Event("M", "thread_name", tid, 0, R"(,"args":{"name":")" + std::string(name) + "\"}");
  return ImportTimeline(std::move(text));
}

TEST(MegEngineCalls, HaveTheTimesOfTheirKernelsAndOfTheWorker) {
  const Trace trace = Timeline(5, "Float32");
  ASSERT_TRUE(HasMegEngineOperators(trace));
  const MegEngineCalls calls = FindMegEngineCalls(trace);
  ASSERT_EQ(calls.operators.size(), 1u);
  const MegEngineOperator& opr = calls.operators[0];
  EXPECT_EQ(opr.name, "outer.inner.ADD");
  EXPECT_EQ(opr.type, "ADD");
  EXPECT_EQ(opr.id, "5");
  ASSERT_EQ(opr.device.size(), 1u);
  EXPECT_DOUBLE_EQ(opr.device[0].whole, 2e-6);
  EXPECT_DOUBLE_EQ(opr.device[0].wait, 1e-6) << "since the inputs were there";
  ASSERT_EQ(opr.host.size(), 1u);
  EXPECT_DOUBLE_EQ(opr.host[0].whole, 5e-6);
  EXPECT_DOUBLE_EQ(opr.host[0].wait, 1e-6);
  EXPECT_EQ(calls.untimed, 1u) << "of operator 6";
}

TEST(MegEngineCalls, HaveShapesTypesAndBytesOfTheirTensors) {
  const Trace trace = Timeline(3, "Uint8");
  const MegEngineCalls calls = FindMegEngineCalls(trace);
  ASSERT_EQ(calls.operators.size(), 1u);
  const MegEngineOperator& opr = calls.operators[0];
  EXPECT_THAT(opr.input_dtypes, ElementsAre("Int32"));
  ASSERT_TRUE(opr.in_shapes && opr.out_shapes && opr.in_layouts);
  EXPECT_THAT((*opr.in_shapes)[0], ElementsAre(2, 3));
  EXPECT_THAT((*opr.out_shapes)[0], ElementsAre(2, 3));
  EXPECT_TRUE((*opr.in_layouts)[0].empty()) << "a timeline has no strides";
  EXPECT_EQ(opr.memory, 6.0 * 4 + 6.0 * 1);
  EXPECT_EQ(opr.computation, std::nullopt);
  EXPECT_EQ(opr.device[0].wait, 0) << "the clock of a device may be behind";
}

TEST(MegEngineCalls, ThatShareAnIdGetTheKernelsLaunchedByEachOfThem) {
  constexpr int kCalls = 300;
  std::string text = R"({"traceEvents":[)";
  text += Event("B", "OpDispatch", 0, 1) + Event("E", "OpDispatch", 0, 1, Operator(5));
  for (int call = 0; call < kCalls; ++call) {  // on two workers in turn, so rows are not in the order of launches
    const double us = 10 * call + 10;
    const int worker = call % 2 == 0 ? 3 : 1;
    text += Event("B", "ADD", worker, us) + Event("E", "ADD", worker, us + 2, Operator(5));
    text += Event("B", "ADD", 2, us + 5, R"(,"cat":"Kernel")");
    text += Event("E", "ADD", 2, us + 8, Operator(5) + R"(,"cat":"Kernel")");
  }
  for (const auto& [tid, name] : {std::pair(0, "interpreter"), {1, "worker"}, {2, "xpux:0"}, {3, "worker 2"}})
    text += Event("M", "thread_name", tid, 0, R"(,"args":{"name":")" + std::string(name) + "\"}");
  const MegEngineCalls calls = FindMegEngineCalls(ImportTimeline(std::move(text)));
  ASSERT_EQ(calls.operators.size(), size_t{kCalls});
  for (const MegEngineOperator& opr : calls.operators) {
    ASSERT_EQ(opr.device.size(), 1u);
    EXPECT_DOUBLE_EQ(opr.device[0].whole, 3e-6);
    EXPECT_DOUBLE_EQ(opr.device[0].wait, 5e-6);
  }
}

// Every operator lies in the one before it, and the innermost has an input.
TEST(MegEngineCalls, ThatNestWithoutBoundAreReadInLinearTime) {
  constexpr uint32_t kCalls = 100'000;
  TraceBuilder builder;
  const TrackId track = builder.AddTrack({.process = builder.AddProcess({.pid = 1}), .tid = 1});
  const StringId name = builder.Intern("ADD"), category = builder.Intern("cpu_op");
  for (uint32_t i = 0; i < kCalls; ++i) {
    builder.AddSpan({.start = {i},
                     .duration = {3 * kCalls - 2 * i},
                     .name = name,
                     .category = category,
                     .track = track,
                     .external_id = i + 1});
  }
  builder.AddSpan({.start = {kCalls + 10},
                   .duration = {10},
                   .name = builder.Intern("Input"),
                   .category = builder.Intern("tensor"),
                   .track = track});
  const MegEngineCalls calls = FindMegEngineCalls(builder.Build());
  ASSERT_EQ(calls.operators.size(), size_t{kCalls});
  EXPECT_DOUBLE_EQ(calls.operators.front().host.at(0).wait, 0) << "the input is not its own";
  EXPECT_DOUBLE_EQ(calls.operators.back().host.at(0).wait, 21e-9);
}

TEST(MegEngineCalls, KnowNoBytesOfATypeThatIsNotKnown) {
  const Trace trace = Timeline(5, "Float7");
  EXPECT_EQ(FindMegEngineCalls(trace).operators.at(0).memory, std::nullopt);
}

TEST(MegEngineCalls, AreNoneInATraceOfAnythingElse) {
  const std::string text =
      R"({"traceEvents":[{"name":"aten::add","cat":"cpu_op","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]})";
  const Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "other");
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(HasMegEngineOperators(trace.value()));
  EXPECT_FALSE(HasMegEngineOperators(Trace()));
}

}  // namespace
}  // namespace opscope

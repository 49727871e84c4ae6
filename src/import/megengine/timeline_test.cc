// SPDX-License-Identifier: Apache-2.0
#include "import/megengine/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opscope/import.h"

namespace opscope {
namespace {

Trace Import(const std::string& events) {
  const std::string text = R"({"metadata": {"localTime": "1795216449185312847"}, "traceEvents": [)" + events + "]}";
  Result<Trace> trace = ImportBytes(std::as_bytes(std::span(text)), "timeline");
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

std::string Event(const char* phase, const char* name, int tid, int ts, const std::string& rest = "") {
  return std::string(R"({"ph": ")") + phase + R"(", "name": ")" + name + R"(", "pid": 7, "tid": )" +
         std::to_string(tid) + R"(, "ts": )" + std::to_string(ts) + rest + "},";
}

std::string Tensor(const char* shape) {
  return std::string(R"(, "args": {"shape": ")") + shape + R"(", "dtype": "Float32", "id": 1})";
}

// "[64,64],[1]" of the span, "" without a list.
std::string ShapesOf(const Trace& trace, size_t span) {
  std::string shapes;
  for (const Argument& argument : trace.arguments(trace.spans().args[span])) {
    shapes += shapes.empty() ? "[" : ",[";
    for (const int64_t size : argument.sizes)
      shapes += (shapes.back() == '[' ? "" : ",") + std::to_string(size);
    shapes += "]";
  }
  return shapes;
}

std::string ShapesOf(const Trace& trace, std::string_view name) {
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().name[i]) == name) return ShapesOf(trace, i);
  }
  return "no such span";
}

// "number:start+duration"
std::vector<std::string> StepsOf(const Trace& trace) {
  std::vector<std::string> steps;
  for (size_t i = 0; i < trace.steps().size(); ++i) {
    const uint32_t span = Row(trace.steps().span[i]);
    steps.push_back(std::to_string(trace.steps().number[i]) + ":" +
                    std::to_string(trace.spans().start[span].ns / 1000) + "+" +
                    std::to_string(trace.spans().duration[span].ns / 1000));
  }
  return steps;
}

TEST(MegEngineTimeline, GivesAnOperatorTheShapesOfItsInputs) {
  const Trace trace = Import(
      Event("B", "ADD", 0, 10) + Event("B", "Input 5", 0, 11, Tensor("{64,64}")) +
      Event("E", "Input 5", 0, 12, Tensor("{64,64}")) + Event("B", "Input 3", 0, 13, Tensor("{1}")) +
      Event("E", "Input 3", 0, 14) + Event("B", "Output 6", 0, 15, Tensor("{64,64}")) + Event("E", "Output 6", 0, 16) +
      Event("E", "ADD", 0, 17) + Event("B", "NEG", 0, 18) + R"({"ph": "E", "pid": 7, "tid": 0, "ts": 19})");
  EXPECT_EQ(ShapesOf(trace, "ADD"), "[64,64],[1]");
  EXPECT_EQ(ShapesOf(trace, "Output"), "[64,64]");
  EXPECT_EQ(ShapesOf(trace, "NEG"), "");
}

TEST(MegEngineTimeline, GivesNoScopeTheShapesOfOperatorsWithinIt) {
  const Trace trace =
      Import(Event("B", "conv1", 0, 1) + Event("B", "ADD", 0, 2) + Event("B", "Input 5", 0, 3, Tensor("{4}")) +
             Event("E", "Input 5", 0, 4) + Event("E", "ADD", 0, 5) + Event("B", "Inputs", 0, 6, Tensor("{9}")) +
             Event("E", "Inputs", 0, 7) + R"({"ph": "E", "pid": 7, "tid": 0, "ts": 8})");
  EXPECT_EQ(ShapesOf(trace, "ADD"), "[4]");
  EXPECT_EQ(ShapesOf(trace, "conv1"), "");
}

// Shared by many operators, a list that is long would be copied for each.
TEST(MegEngineTimeline, LeavesInputsAloneThatAreNoTensorsOfMegEngine) {
  const Trace trace = Import(Event("B", "ADD", 0, 1) + Event("B", "Input 5", 0, 2, Tensor("{1,1,1,1,1,1,1,1}")) +
                             Event("E", "Input 5", 0, 3) + R"({"ph": "E", "pid": 7, "tid": 0, "ts": 4})");
  EXPECT_EQ(ShapesOf(trace, "Input"), "[1,1,1,1,1,1,1,1]");
  EXPECT_EQ(ShapesOf(trace, "ADD"), "");
}

TEST(MegEngineTimeline, EndsStepsWhereTheProgramDidNotTheWorker) {
  const Trace trace = Import(Event("X", "OpDispatch", 1, 5, R"(, "dur": 1)") + Event("i", "StopStep", 0, 40) +
                             Event("i", "StopStep", 1, 20) + Event("i", "StopStep", 1, 30) +
                             R"({"ph": "i", "name": "StopStep", "pid": 7, "tid": 0, "ts": 50})");
  EXPECT_THAT(StepsOf(trace), testing::ElementsAre("0:5+15", "1:20+10"));
}

TEST(MegEngineTimeline, NumbersTheStepsOfEachProcess) {
  const Trace trace =
      Import(Event("i", "StopStep", 1, 20) + R"({"ph": "X", "name": "a", "pid": 8, "tid": 1, "ts": 3, "dur": 1},)" +
             R"({"ph": "i", "name": "StopStep", "pid": 8, "tid": 1, "ts": 9})");
  EXPECT_THAT(StepsOf(trace), testing::UnorderedElementsAre("0:20+0", "0:3+6"));
}

TEST(MegEngineTimeline, TakesTheNumberOfADeviceFromItsName) {
  const auto device = [](const char* name) {
    const Trace trace =
        Import(R"({"ph": "X", "cat": "Kernel", "name": "ADD", "pid": 7, "tid": 2, "ts": 1, "dur": 1},)" +
               Event("M", "thread_name", 2, 0, std::string(R"(, "args": {"name": ")") + name + "\"}") +
               R"({"ph": "X", "name": "a", "pid": 7, "tid": 1, "ts": 3, "dur": 1})");
    return trace.tracks().device[0];
  };
  EXPECT_EQ(device("gpu1:0"), 1);
  EXPECT_EQ(device("xpux:0"), -1);
  EXPECT_EQ(device("gpu99999999999:0"), -1);
}

// A launch at `launched` and its kernel at `begun`, 2 us long.
std::string Launched(int number, int launched, int begun) {
  const std::string id = R"(, "id": )" + std::to_string(number) + R"(, "cat": "KernelLaunch", "scope": "7")";
  return Event("s", "7", 0, launched, id) + Event("f", "7", 2, begun, id) +
         Event("B", "ADD", 2, begun, R"(, "cat": "Kernel")") +
         Event("E", "ADD", 2, begun + 2, R"(, "cat": "Kernel", "args": {"__id__": )" + std::to_string(number) + "}");
}

TEST(MegEngineTimeline, ShiftsADeviceByTheLeastThatPutsEachKernelBehindItsLaunch) {
  const std::string rest = Event("M", "thread_name", 2, 0, R"(, "args": {"name": "xpux:0"})") +
                           R"({"ph": "X", "name": "OpDispatch", "pid": 7, "tid": 1, "ts": 3, "dur": 0})";
  const auto times = [&](const std::string& events) {
    const Trace trace = Import(events + rest);
    std::vector<std::string> found;
    for (size_t i = 0; i < trace.spans().size(); ++i) {
      if (trace.text(trace.spans().name[i]) == "ADD") {
        found.push_back(std::to_string(trace.spans().start[i].ns) + "+" + std::to_string(trace.spans().duration[i].ns));
      }
    }
    for (size_t i = 0; i < trace.flows().size(); ++i)
      found.push_back("arrow to " + std::to_string(trace.flows().end_time[i].ns));
    for (size_t i = 0; i < trace.problems().size(); ++i)
      found.push_back(std::string(trace.text(trace.problems().kind[i])) + " " +
                      std::to_string(trace.problems().count[i]));
    return found;
  };
  EXPECT_THAT(times(Launched(1, 10, 4) + Launched(2, 20, 11) + Launched(3, 30, 40)),
              testing::ElementsAre("13000+2000", "20000+2000", "49000+2000", "arrow to 13000", "arrow to 20000",
                                   "arrow to 49000", "device_clock_moved 2"));
  EXPECT_THAT(times(Launched(1, 10, 10) + Launched(2, 20, 25)),
              testing::ElementsAre("10000+2000", "25000+2000", "arrow to 10000", "arrow to 25000"));
}

TEST(MegEngineTimeline, GivesATensorTheBytesOfItsTypesElements) {
  const auto bytes_of = [](const std::string& dtype) {
    const std::string members = R"(, "args": {"shape": "{7}", "dtype": ")" + dtype + R"(", "id": 1, "nr_elements": 7})";
    const Trace trace =
        Import(Event("B", "Input 1", 1, 10, members) + Event("E", "Input 1", 1, 11, members) +
               R"({"ph": "C", "name": "nr_alive_tensor", "pid": 7, "tid": 1, "ts": 12,)" + R"( "args": {"value": 1}})");
    return trace.tensor_lives().size() == 1 ? trace.tensor_lives().bytes[0] : UINT64_MAX;
  };
  EXPECT_EQ(bytes_of("Float32"), 28u);
  EXPECT_EQ(bytes_of("Byte"), 7u);
  EXPECT_EQ(bytes_of("Quantized8Asymm"), 7u);
  EXPECT_EQ(bytes_of("QuantizedS4"), 4u) << "two in a byte";
}

}  // namespace
}  // namespace opscope

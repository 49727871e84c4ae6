// Nodes of CUDA's graphs: arrows between them, those that record events, their names; and sensors of devices.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import/recording/cuda_window_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uint64_t kGraph = uint64_t{9} << 32;

struct GraphWindow : CudaWindow {
  void Node(std::string_view name, uint64_t number, uint64_t start, uint64_t end, uint32_t launch) {
    Add(CudaEvent::kKernel, start, end, launch,
        CudaKernelDetails{.graph_node = kGraph | number, .context = 1, .stream = 7, .graph = 9}, name);
  }
  void Edge(uint64_t from, uint64_t to) {
    Add(CudaEvent::kGraphEdge, 1000, 1000, 0, CudaGraphEdgeDetails{.from = kGraph | from, .to = kGraph | to});
  }
  void EventNode(uint64_t number) {
    Add(CudaEvent::kEventNode, 1000, 1000, 0, CudaGraphNodeDetails{.node = kGraph | number});
  }
  void EventRecord(uint64_t number, uint64_t time, uint32_t launch) {
    Add(CudaEvent::kEventOfGraph, time, time, launch,
        CudaEventRecordDetails{.event = 3, .context = 1, .stream = 7, .number = number, .device_ns = 1});
  }
  void HostNode(uint64_t number, uint64_t start, uint64_t end, uint32_t launch) {
    Add(CudaEvent::kHostNode, start, end, launch,
        CudaHostNodeDetails{
            .graph_node = kGraph | number, .context = 1, .stream = 7, .graph = 9, .process = 77, .thread = 78});
  }
  void Sensor(uint32_t kind, uint64_t value, uint64_t time, uint32_t device = 0) {
    Add(CudaEvent::kEnvironment, time, time + value, 0, CudaEnvironmentDetails{.device = device, .kind = kind});
  }
};

// "from -> to" of each arrow.
std::vector<std::string> Arrows(const Trace& trace) {
  std::vector<std::string> arrows;
  const auto name = [&](SpanId span) { return std::string(trace.text(trace.spans().name[Row(span)])); };
  for (size_t i = 0; i < trace.flows().size(); ++i)
    arrows.push_back(name(trace.flows().start_span[i]) + " -> " + name(trace.flows().end_span[i]));
  return arrows;
}

// "name value" of each reading.
std::vector<std::string> Counters(const Trace& trace) {
  std::vector<std::string> found;
  for (size_t i = 0; i < trace.counters().size(); ++i)
    found.push_back(std::string(trace.text(trace.counters().name[i])) + " " +
                    std::to_string(trace.counters().value[i]));
  return found;
}

TEST(GraphsOfCuda, LeadArrowsToWhatWaitsWithinOneLaunch) {
  GraphWindow window;
  window.Edge(1, 2);
  window.Edge(1, 3);
  window.Call("cudaGraphLaunch", 1100, 1110, 1);
  window.Call("cudaGraphLaunch", 1120, 1130, 2);
  window.Node("a", 1, 1200, 1210, 1);
  window.Node("b", 2, 1210, 1220, 1);
  window.Node("c", 3, 1220, 1230, 1);
  window.Node("a2", 1, 1300, 1310, 2);
  window.Node("b2", 2, 1310, 1320, 2);
  EXPECT_THAT(Arrows(window.Import()),
              UnorderedElementsAre("cudaGraphLaunch -> a", "a -> b", "a -> c", "cudaGraphLaunch -> a2", "a2 -> b2"));
}

TEST(GraphsOfCuda, PassOverNodesThatMakeNoWork) {
  GraphWindow window;
  window.Edge(1, 2);
  window.Edge(2, 3);
  window.Edge(3, 2);  // a cycle is none of CUDA's, and ends all the same
  window.Edge(3, 4);
  window.Node("a", 1, 1200, 1210, 1);
  window.Node("d", 4, 1220, 1230, 1);
  EXPECT_THAT(Arrows(window.Import()), ElementsAre("a -> d"));
}

TEST(GraphsOfCuda, KeepTheArrowOfTheLaunchWhereNothingBeforeIsThere) {
  GraphWindow window;
  window.Edge(1, 2);
  window.Call("cudaGraphLaunch", 1100, 1110, 1);
  window.Node("b", 2, 1210, 1220, 1);
  EXPECT_THAT(Arrows(window.Import()), ElementsAre("cudaGraphLaunch -> b"));
}

TEST(GraphsOfCuda, GiveRecordsOfEventsToTheirNodesByOrder) {
  GraphWindow window;
  window.EventNode(2);
  window.EventNode(5);
  window.Node("a", 1, 1200, 1210, 1);
  window.EventRecord(71, 1230, 1);  // the later number is the later node's, whenever it ran
  window.EventRecord(70, 1240, 1);
  const Trace trace = window.Import();
  std::vector<std::string> found;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) == "graph_event_node")
      found.push_back(std::string(trace.text(trace.spans().extra[i])));
  }
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0], HasSubstr("\"graph node id\": " + std::to_string(kGraph | 5)));
  EXPECT_THAT(found[1], HasSubstr("\"graph node id\": " + std::to_string(kGraph | 2)));
}

TEST(GraphsOfCuda, GuessNothingWhereRecordsAndNodesAreNotAsMany) {
  GraphWindow window;
  window.EventNode(2);
  window.EventNode(5);
  window.Node("a", 1, 1200, 1210, 1);
  window.EventRecord(70, 1230, 1);
  window.EventRecord(71, 1240, 2);  // of nothing that is known
  EXPECT_FALSE(Rows(window.Import()).row.contains("graph_event_node EventRecord"));
}

TEST(GraphsOfCuda, ShowWhatRanOnTheCpuOnTheStreamThatWaits) {
  GraphWindow window;
  window.Call("cudaGraphLaunch", 1100, 1110, 1);
  window.Node("a", 1, 1200, 1210, 1);
  window.HostNode(2, 1210, 1260, 1);
  const Trace trace = window.Import();
  const Rows rows(trace);
  const size_t node = rows["graph_host_node HostNode"];
  EXPECT_EQ(trace.spans().track[node], trace.spans().track[rows["kernel a"]]);
  EXPECT_EQ(trace.spans().kind[node], SpanKind::kOther);
  EXPECT_EQ(trace.spans().duration[node].ns, 50);
  EXPECT_EQ(trace.spans().correlation[node], 1u);
  EXPECT_EQ(rows.extra("graph_host_node HostNode"),
            "\"device\": 0, \"context\": 1, \"stream\": 7, \"host process\": 77, \"host thread\": 78, "
            "\"graph id\": 9, \"graph node id\": " +
                std::to_string(kGraph | 2));
  EXPECT_THAT(Arrows(trace), UnorderedElementsAre("cudaGraphLaunch -> a", "cudaGraphLaunch -> HostNode"));
}

TEST(GraphsOfCuda, LeadArrowsThroughWhatRanOnTheCpu) {
  GraphWindow window;
  window.Edge(1, 2);
  window.Edge(2, 3);
  window.Call("cudaGraphLaunch", 1100, 1110, 1);
  window.Node("a", 1, 1200, 1210, 1);
  window.HostNode(2, 1210, 1260, 1);
  window.Node("b", 3, 1270, 1280, 1);
  EXPECT_THAT(Arrows(window.Import()), UnorderedElementsAre("cudaGraphLaunch -> a", "a -> HostNode", "HostNode -> b"));
}

TEST(GraphsOfCuda, GuessNoLaunchOfWhatRanOnTheCpuWhereCuptiTellsNone) {
  GraphWindow window;
  window.Edge(1, 2);
  window.Edge(2, 3);
  window.Edge(3, 4);
  window.Call("cudaGraphLaunch", 1100, 1110, 1);
  window.Node("a", 1, 1200, 1210, 1);
  window.HostNode(2, 1210, 1260, 0);
  window.HostNode(3, 1260, 1265, 0);
  window.Node("b", 4, 1270, 1280, 1);
  const Trace trace = window.Import();
  EXPECT_THAT(Arrows(trace), UnorderedElementsAre("cudaGraphLaunch -> a", "a -> b"));
  EXPECT_TRUE(Rows(trace).row.contains("graph_host_node HostNode"));
}

TEST(GraphsOfCuda, AreNamedByTheProgramInWholeMembersAlone) {
  GraphWindow window;
  window.Node("a", 1, 1200, 1210, 1);
  window.Node("b", 2, 1210, 1220, 1);
  window.Node("c", 3, 1220, 1230, 1);
  const std::string names = R"({")" + std::to_string(kGraph | 1) + R"(":"\"phase\": \"A\"",")" +
                            std::to_string(kGraph | 2) + R"(":"\"phase\": \"","x":"\"y\": 1",")" +
                            std::to_string(kGraph | 3) + R"(":7})";
  const Trace trace = window.Import(R"("metadata":{"opscope.graph_nodes":)" + names + "}");
  const Rows rows(trace);
  EXPECT_THAT(std::string(rows.extra("kernel a")), HasSubstr(", \"phase\": \"A\""));
  EXPECT_THAT(std::string(rows.extra("kernel b")), testing::Not(HasSubstr("phase")));
  EXPECT_THAT(std::string(rows.extra("kernel c")),
              testing::EndsWith("\"graph node id\": " + std::to_string(kGraph | 3)));
  EXPECT_EQ(trace.metadata().size(), 1u) << "that of the clock";
}

TEST(SensorsOfCuda, AreCountersOfDevicesThatWork) {
  GraphWindow window;
  window.Node("a", 1, 1200, 1210, 1);
  window.Sensor(1, uint64_t{2600} << 32 | 1500, 1300);
  window.Sensor(3, uint64_t{700000} << 32 | 250500, 1310);
  window.Sensor(2, 55, 1320);
  window.Sensor(2, 60, 1330, 1);  // the other device has nothing to do
  window.Sensor(17, 60, 1340);    // of a kind that is not known
  EXPECT_THAT(Counters(window.Import()),
              ElementsAre("SM Clock (MHz) 1500.000000", "Memory Clock (MHz) 2600.000000", "Power (W) 250.500000",
                          "Temperature (C) 55.000000", "Cycles (Current Kernel) 15.000000"));
}

// 100 ns at the median of 1500 and 1805 MHz, whichever clock was nearest.
TEST(SensorsOfCuda, GiveCyclesOfKernelsByTheMedianClock) {
  GraphWindow window;
  window.Kernel("a", 1200, 1300, 1);
  window.Kernel("of no length", 1300, 1300, 1);
  window.Add(CudaEvent::kCopy, 1400, 1500, 1, CudaCopyDetails{.bytes = 8, .context = 1, .stream = 7});
  window.Sensor(1, 1500, 1100);
  window.Sensor(1, 1805, 1110);
  window.Sensor(1, 3000, 5000);  // after the window
  window.Add(CudaEvent::kWindow, 1000, 2000, 0, CudaClockDetails{});
  std::vector<std::string> cycles = Counters(window.Import());
  std::erase_if(cycles, [](const std::string& counter) { return !counter.starts_with("Cycles"); });
  EXPECT_THAT(cycles, ElementsAre("Cycles (Current Kernel) 165.000000", "Cycles (Current Kernel) 0.000000"));
}

TEST(SensorsOfCuda, GiveNoCyclesWithoutAClock) {
  GraphWindow window;
  window.Kernel("a", 1200, 1300, 1);
  window.Add(CudaEvent::kKernel, 1300, 1400, 1, CudaKernelDetails{.device = 1, .context = 2, .stream = 7}, "b");
  window.Sensor(3, 250500, 1310);
  window.Sensor(1, 0, 1320);     // it is not told
  window.Sensor(1, 1500, 9000);  // of the time after the window
  window.Sensor(2, 55, 1330, 1);
  window.Add(CudaEvent::kWindow, 1000, 2000, 0, CudaClockDetails{});
  for (const std::string& counter : Counters(window.Import()))
    EXPECT_THAT(counter, testing::Not(HasSubstr("Cycles")));
}

}  // namespace
}  // namespace opscope

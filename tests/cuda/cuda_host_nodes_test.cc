// Graph nodes that run on the CPU, which CUPTI records from 13.1 on.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "cuda_window.h"

namespace opscope {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint32_t kHostNodeKind = 56;  // of CUPTI
constexpr uint32_t kFlags = cuda_source_flags::kHostNodes;

class CudaHostNodes : public CudaFaults {};

// A kernel, a function on the CPU, a kernel.
uint32_t MakeGraph() {
  const uint32_t graph = fake_cuda_graph_create();
  fake_cuda_graph_add_kernel(graph, "first", 1000);
  fake_cuda_graph_add_host(graph, 3000);
  fake_cuda_graph_add_kernel(graph, "second", 1000);
  return graph;
}

// A window around so many launches, each of which ends before the next one.
std::shared_ptr<const Trace> RecordLaunches(int count, uint32_t flags = kFlags) {
  const uint32_t graph = MakeGraph();
  const auto recording = StartWindow(flags);
  for (int i = 0; i < count; ++i) {
    fake_cuda_graph_launch(graph, kStream);
    fake_cuda_device_synchronize(0);
  }
  return StopWindow(*recording);
}

std::vector<size_t> HostNodesOf(const Trace& trace) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < trace.spans().size(); ++i) {
    if (trace.text(trace.spans().category[i]) == "graph_host_node") rows.push_back(i);
  }
  return rows;
}

TEST_F(CudaHostNodes, AreOnTheStreamWithTheThreadThatRanThem) {
  for (const char* version : {"13.5", "99"}) {
    InChildProcess(std::string("version=") + version, [] {
      const auto trace = RecordLaunches(3);
      const std::vector<size_t> nodes = HostNodesOf(*trace);
      ASSERT_EQ(nodes.size(), 3u);
      for (const size_t node : nodes) {
        EXPECT_EQ(trace->spans().duration[node].ns, 3000);
        EXPECT_NE(trace->spans().correlation[node], 0u);
        EXPECT_EQ(trace->tracks().kind[Row(trace->spans().track[node])], TrackKind::kDeviceStream);
        EXPECT_THAT(std::string(trace->text(trace->spans().extra[node])),
                    HasSubstr("\"host process\": " + std::to_string(getpid()) +
                              ", \"host thread\": " + std::to_string(fake_cuda_host_thread())));
      }
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 6u);
      EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
      EXPECT_EQ(fake_cupti_issued(0), fake_cupti_handed_back(0));
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaHostNodes, OfLaunchesThatWereQueuedHaveNoNumberAndAreThere) {
  InChildProcess("version=13.5;latency=200000000", [] {
    const uint32_t graph = MakeGraph();
    const auto recording = StartWindow(kFlags);
    for (int i = 0; i < 3; ++i)
      fake_cuda_graph_launch(graph, kStream);
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    const std::vector<size_t> nodes = HostNodesOf(*trace);
    ASSERT_EQ(nodes.size(), 3u);
    EXPECT_NE(trace->spans().correlation[nodes[0]], 0u);
    EXPECT_EQ(trace->spans().correlation[nodes[1]], 0u);
    EXPECT_EQ(trace->spans().correlation[nodes[2]], 0u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaHostNodes, AreNotAskedForByAnybodyElse) {
  InChildProcess("version=13.5", [] {
    EXPECT_TRUE(HostNodesOf(*RecordLaunches(1, 0)).empty());
    EXPECT_EQ(fake_cupti_issued(kHostNodeKind), 0u);
    const auto without = StartWindow(0);  // beside one that asks
    EXPECT_EQ(HostNodesOf(*RecordLaunches(1)).size(), 1u);
    EXPECT_TRUE(HostNodesOf(*StopWindow(*without)).empty());
    ExpectNothingLeft();
  });
}

TEST_F(CudaHostNodes, AreMissedWhereTheyWereAskedForAlone) {
  InChildProcess("version=13.5;incomplete=1", [] {
    const auto without = StartWindow(0);
    EXPECT_EQ(ProblemOf(*RecordLaunches(1), "device_incomplete").count, 3u);
    EXPECT_EQ(ProblemOf(*StopWindow(*without), "device_incomplete").count, 2u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaHostNodes, AreToldToBeMissingWhereCuptiHasNone) {
  for (const char* version : {"12.1", "12.9", "13.0"}) {
    InChildProcess(std::string("version=") + version, [] {
      const auto trace = RecordLaunches(1);
      EXPECT_THAT(ProblemOf(*trace, "device_call_failed").message, HasSubstr("host nodes of graphs"));
      EXPECT_THAT(ProblemOf(*trace, "device_call_failed").message, HasSubstr("older than 13.1"));
      EXPECT_EQ(trace->problems().severity[0], ProblemSeverity::kInfo);
      EXPECT_THAT(std::string(fake_cupti_log()), Not(HasSubstr("(56)"))) << "it would not know the number";
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 2u);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaHostNodes, ThatAreRefusedCostOnlyThemselves) {
  InChildProcess("version=13.5;fail=cuptiActivityEnable(56):27,cuptiActivityEnable(20):27", [] {
    const auto trace = RecordLaunches(1, kFlags | cuda_source_flags::kEnvironment);
    EXPECT_EQ(trace->problems().size(), 2u) << ProblemsOf(*trace);
    EXPECT_THAT(ProblemsOf(*trace), HasSubstr("(host nodes of graphs): CUPTI_ERROR_NOT_SUPPORTED"));
    EXPECT_THAT(ProblemsOf(*trace), HasSubstr("(environment): CUPTI_ERROR_NOT_SUPPORTED"));
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 2u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaHostNodes, AreCountedLikeKernelsWhereSomeAreLost) {
  InChildProcess("version=13.5;incomplete=3", [] {
    const auto trace = RecordLaunches(6);
    EXPECT_EQ(HostNodesOf(*trace).size() + CountOf(*trace, SpanKind::kKernel), 12u);
    EXPECT_EQ(ProblemOf(*trace, "device_incomplete").count, 6u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
  InChildProcess("version=13.5;drop=4;unknown=5;longer=16;order=shuffled", [] {
    const auto trace = RecordLaunches(50);
    EXPECT_EQ(HostNodesOf(*trace).size(), 50u - fake_cupti_dropped(kHostNodeKind));
    EXPECT_GT(fake_cupti_dropped(kHostNodeKind), 0u);
    EXPECT_EQ(ProblemOf(*trace, "device_dropped").count, fake_cupti_dropped(0)) << ProblemsOf(*trace);
    EXPECT_GT(ProblemOf(*trace, "device_unknown").count, 0u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaHostNodes, RestWithTheWindow) {
  InChildProcess("version=13.5", [] {
    const uint32_t graph = MakeGraph();
    const auto recording = StartWindow(kFlags);
    const auto launch = [&] {
      fake_cuda_graph_launch(graph, kStream);
      fake_cuda_device_synchronize(0);
    };
    launch();
    recording->Pause(true, "cuda");
    launch();
    recording->Pause(false, "cuda");
    launch();
    EXPECT_EQ(HostNodesOf(*StopWindow(*recording)).size(), 2u);
    EXPECT_EQ(fake_cupti_issued(kHostNodeKind), 2u);
    ExpectNothingLeft();
  });
}

}  // namespace
}  // namespace opscope

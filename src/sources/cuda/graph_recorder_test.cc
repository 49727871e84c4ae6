// What the recorder of graphs holds, from callbacks as CUPTI makes them. Handles of the simulated CUPTI are the numbers
// of nodes and graphs.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/graph_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "sources/cuda/simulated_cupti_for_test.h"

namespace opscope::cuda {
namespace {

using cupti::ResourceCallback;
using testing::ElementsAre;
using testing::Pair;

constexpr uint64_t NodeOf(uint32_t graph, uint32_t number) {
  return uint64_t{graph} << 32 | number;
}

cupti::GraphNode HandleOf(uint64_t node) {
  return reinterpret_cast<cupti::GraphNode>(node);
}

template <typename Set>
void Call(ResourceCallback callback, Set&& set) {
  cupti::GraphData graph{};
  set(graph);
  const cupti::ResourceData data{nullptr, nullptr, &graph};
  GraphRecorder::OnCallback(nullptr, cupti::CallbackDomain::kResource, static_cast<uint32_t>(callback), &data);
}

void Create(uint64_t node) {
  Call(ResourceCallback::kGraphNodeCreated, [&](cupti::GraphData& graph) { graph.node = HandleOf(node); });
}

void Connect(uint64_t from, uint64_t to) {
  Call(ResourceCallback::kGraphNodeDependencyCreated, [&](cupti::GraphData& graph) {
    graph.node = HandleOf(to);
    graph.dependency = HandleOf(from);
  });
}

constexpr uint32_t kGraph = 1, kNodes = 3;

// Node 1 before nodes 2 and 3.
void CreateFan() {
  for (uint32_t number = 1; number <= kNodes; ++number) {
    Create(NodeOf(kGraph, number));
    if (number > 1) Connect(NodeOf(kGraph, 1), NodeOf(kGraph, number));
  }
}

void Instantiate(uint32_t executable) {
  for (uint32_t number = 1; number <= kNodes; ++number) {
    Call(ResourceCallback::kGraphNodeCloned, [&](cupti::GraphData& graph) {
      graph.node = HandleOf(NodeOf(executable, number));
      graph.original_node = HandleOf(NodeOf(kGraph, number));
    });
  }
}

void DestroyExecutable(uint32_t executable) {
  Call(ResourceCallback::kGraphExecDestroyStarting,
       [&](cupti::GraphData& graph) { graph.exec = reinterpret_cast<cupti::GraphExec>(uint64_t{executable}); });
}

void DestroyGraph() {
  Call(ResourceCallback::kGraphDestroyStarting,
       [](cupti::GraphData& graph) { graph.graph = reinterpret_cast<cupti::Graph>(uint64_t{kGraph}); });
}

class GraphRecorderTest : public SimulatedCuptiTest {
 protected:
  void SetUp() override {
    SimulatedCuptiTest::SetUp();
    GraphRecorder::Get().Clear();
  }
  static void ExpectHeld(size_t nodes, size_t edges, size_t clones) {
    const GraphRecorder::Sizes held = GraphRecorder::Get().CountSizes();
    EXPECT_EQ(held.nodes, nodes);
    EXPECT_EQ(held.edges, edges);
    EXPECT_EQ(held.clones, clones);
  }
};

TEST_F(GraphRecorderTest, ReportsEachEdgeOfGraphAndCloneOnce) {
  CreateFan();
  Connect(NodeOf(kGraph, 1), NodeOf(kGraph, 3));  // again
  Instantiate(2);
  EXPECT_THAT(GraphRecorder::Get().TakeKnown(true).edges,
              ElementsAre(Pair(NodeOf(1, 1), NodeOf(1, 2)), Pair(NodeOf(1, 1), NodeOf(1, 3)),
                          Pair(NodeOf(2, 1), NodeOf(2, 2)), Pair(NodeOf(2, 1), NodeOf(2, 3))));
}

TEST_F(GraphRecorderTest, HoldsOnlyLivingClonesOfGraphInstantiatedInEveryStep) {
  CreateFan();
  for (uint32_t executable = 10; executable < 1010; ++executable) {
    Instantiate(executable);
    if (executable > 10) DestroyExecutable(executable - 1);  // one of the last step, one of this
    ExpectHeld(2 * kNodes, 4, kNodes);
  }
  DestroyExecutable(1009);
  ExpectHeld(kNodes, 2, 0);
}

TEST_F(GraphRecorderTest, ForgetsClonesWhenRecordingThatTheyRanInEnds) {
  CreateFan();
  GraphRecorder::Get().KeepDestroyed();
  Instantiate(2);
  DestroyExecutable(2);
  ExpectHeld(2 * kNodes, 4, kNodes);
  EXPECT_EQ(GraphRecorder::Get().TakeKnown(true).edges.size(), 4u);
  ExpectHeld(kNodes, 2, 0);
}

TEST_F(GraphRecorderTest, KeepsNothingDestroyedAfterItWasCleared) {
  GraphRecorder::Get().KeepDestroyed();
  GraphRecorder::Get().Clear();
  CreateFan();
  Instantiate(2);
  DestroyExecutable(2);
  ExpectHeld(kNodes, 2, 0);
}

TEST_F(GraphRecorderTest, DestroysClonesAfterTheirOriginals) {
  CreateFan();
  Instantiate(2);
  DestroyGraph();
  ExpectHeld(kNodes, 2, 0);
  DestroyExecutable(2);
  ExpectHeld(0, 0, 0);
}

}  // namespace
}  // namespace opscope::cuda

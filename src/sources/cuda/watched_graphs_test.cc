// What graphs are made of, watched on a libcupti with a simulated GPU behind it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "opscope/cuda_source.h"
#include "opscope/session.h"
#include "sources/cuda/simulated_cupti_for_test.h"

namespace opscope {
namespace {

using testing::HasSubstr;

std::string Watch(bool is_on) {
  char why[512] = "";
  opscope_cuda_source()->watch_graphs(is_on, why, sizeof(why));
  return why;
}

class WatchedGraphsTest : public SimulatedCuptiTest {
 protected:
  // A chain of kernels, instantiated.
  uint32_t MakeGraph(int kernels) {
    const uint32_t graph = fake_cuda_graph_create();
    for (int i = 0; i < kernels; ++i)
      fake_cuda_graph_add_kernel(graph, "node", 1000);
    return fake_cuda_graph_instantiate(graph);
  }
  std::shared_ptr<const Trace> Record(uint32_t graph, bool destroys = false) {
    Recording recording({.sources = {{&opscope_cuda_source()->source, cuda_source_flags::kGraphEdges}}});
    EXPECT_TRUE(recording.Start().ok());
    fake_cuda_graph_launch(graph, kFirstStream);
    fake_cuda_device_synchronize(0);
    if (destroys) fake_cuda_graph_destroy(graph);
    recording.Stop();
    return recording.ReadTrace().value();
  }
  // The least of some windows: one that takes long has more readings of the clock.
  static uint64_t RecordsOfEmptyWindow() {
    uint64_t least = UINT64_MAX;
    for (int window = 0; window < 5; ++window) {
      Recording recording({.sources = {{&opscope_cuda_source()->source, cuda_source_flags::kGraphEdges}}});
      EXPECT_TRUE(recording.Start().ok());
      recording.Stop();
      least = std::min(least, recording.counts().recorded);
    }
    return least;
  }
};

// Arrows that begin where a kernel is.
size_t ArrowsBetweenKernels(const Trace& trace) {
  size_t count = 0;
  for (const SpanId span : trace.flows().start_span)
    count += span != SpanId::kNone && trace.spans().kind[Row(span)] == SpanKind::kKernel ? 1 : 0;
  return count;
}

TEST_F(WatchedGraphsTest, ReportWhatNodesWaitForInEveryWindow) {
  ASSERT_EQ(Watch(true), "");
  const uint32_t graph = MakeGraph(4);
  for (int window = 0; window < 2; ++window) {
    const auto trace = Record(graph);
    EXPECT_EQ(ArrowsBetweenKernels(*trace), 3u);
    EXPECT_EQ(trace->flows().size(), 4u);  // and the launch
    EXPECT_EQ(trace->problems().size(), 0u);
  }
  EXPECT_EQ(fake_cupti_subscribed(), 1u);
  Watch(false);
}

TEST_F(WatchedGraphsTest, AreForgottenWhenTheyAreDestroyedAndTheirLastWindowIsOver) {
  ASSERT_EQ(Watch(true), "");
  const uint32_t graph = MakeGraph(3);
  EXPECT_EQ(ArrowsBetweenKernels(*Record(graph)), 2u);  // from here on windows have its context and stream, too
  const uint64_t known = RecordsOfEmptyWindow();
  EXPECT_EQ(ArrowsBetweenKernels(*Record(graph, true)), 2u);
  EXPECT_EQ(known - RecordsOfEmptyWindow(), 2u);  // its edges; those of what it was cloned from are there
  Watch(false);
}

TEST_F(WatchedGraphsTest, AreForgottenWhenTheyAreDestroyedWhileATimerRuns) {
  ASSERT_EQ(Watch(true), "");
  char why[512] = "";
  void* timer = opscope_cuda_source()->start_timer(cuda_timer_flags::kKernels, why, sizeof(why));
  ASSERT_NE(timer, nullptr) << why;
  EXPECT_EQ(ArrowsBetweenKernels(*Record(MakeGraph(3))), 2u);  // from here on windows have its context and stream, too
  const uint64_t known = RecordsOfEmptyWindow();
  fake_cuda_graph_destroy(MakeGraph(3));
  EXPECT_EQ(RecordsOfEmptyWindow() - known, 2u);  // the edges of what it was cloned from
  opscope_cuda_source()->stop_timer(timer);
  Watch(false);
}

TEST_F(WatchedGraphsTest, ArriveInAWindowThatRanBeforeTheyWereWatchedEvenIfTheyAreDestroyed) {
  Recording recording({.sources = {{&opscope_cuda_source()->source, cuda_source_flags::kGraphEdges}}});
  ASSERT_TRUE(recording.Start().ok());
  ASSERT_EQ(Watch(true), "");
  const uint32_t graph = MakeGraph(3);
  fake_cuda_graph_launch(graph, kFirstStream);
  fake_cuda_device_synchronize(0);
  fake_cuda_graph_destroy(graph);
  recording.Stop();
  EXPECT_EQ(ArrowsBetweenKernels(*recording.ReadTrace().value()), 2u);
  Watch(false);
}

TEST_F(WatchedGraphsTest, StayWatchedUntilTheLastOneLeaves) {
  ASSERT_EQ(Watch(true), "");
  ASSERT_EQ(Watch(true), "");
  Watch(false);
  EXPECT_EQ(fake_cupti_subscribed(), 1u);
  EXPECT_EQ(ArrowsBetweenKernels(*Record(MakeGraph(2))), 1u);
  Watch(false);
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
}

TEST_F(WatchedGraphsTest, AreLeftToAWindowThatRuns) {
  ASSERT_EQ(Watch(true), "");
  Recording recording({.sources = {{&opscope_cuda_source()->source, 0}}});
  ASSERT_TRUE(recording.Start().ok());
  Watch(false);
  fake_cuda_launch(kFirstStream, "kernel", 1000, 1, 1);
  fake_cuda_device_synchronize(0);
  EXPECT_EQ(fake_cupti_subscribed(), 1u);
  recording.Stop();
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
  EXPECT_EQ(recording.ReadTrace().value()->problems().size(), 0u);
}

TEST_F(WatchedGraphsTest, AreNotWatchedBesideAnotherSubscriber) {
  fake_cupti_holder("idle");
  EXPECT_THAT(Watch(true), HasSubstr("in use"));
  fake_cupti_holder("none");
}

TEST_F(WatchedGraphsTest, GiveTheSubscriptionBackWhereCallbacksAreRefused) {
  fake_cupti_change("fail=cuptiEnableCallback:35");
  EXPECT_THAT(Watch(true), HasSubstr("permission"));
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
}

TEST_F(WatchedGraphsTest, AskCuptiForNothingMoreWhereNobodyWatches) {
  Record(MakeGraph(2));
  EXPECT_EQ(fake_cupti_calls("cuptiEnableCallback"), 0u);
  EXPECT_EQ(fake_cupti_calls("cuptiGetGraphNodeId"), 0u);
}

}  // namespace
}  // namespace opscope

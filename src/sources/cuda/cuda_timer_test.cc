// An always-on timer on a libcupti with a simulated GPU behind it.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "opscope/cuda_source.h"
#include "opscope/session.h"
#include "sources/cuda/simulated_cupti_for_test.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace cuda_timer_flags;

class CudaTimerTest : public SimulatedCuptiTest {
 protected:
  void* Start(uint32_t flags) {
    char why[512] = "";
    void* timer = source_->start_timer(flags, why, sizeof(why));
    EXPECT_NE(timer, nullptr) << why;
    return timer;
  }
  std::vector<CudaTimedWork> Drain(void* timer) {
    fake_cuda_device_synchronize(0);
    source_->drain_timer(timer, true, &times_);
    return {times_.works, times_.works + times_.work_count};
  }

  const CudaSource* source_ = opscope_cuda_source();
  CudaTimes times_;
};

TEST_F(CudaTimerTest, TimesNodesOfGraphsAndWorksOutsideOfThem) {
  void* timer = Start(kKernels);
  const uint32_t graph = fake_cuda_graph_create();
  const uint64_t node = fake_cuda_graph_add_kernel(graph, "node", 3000);
  fake_cuda_launch(kFirstStream, "alone", 2000, 1, 1);
  fake_cuda_graph_launch(graph, kFirstStream);
  const std::vector<CudaTimedWork> works = Drain(timer);
  ASSERT_EQ(works.size(), 2u);
  EXPECT_EQ(works[0].node, 0u);
  EXPECT_EQ(works[0].end_ns - works[0].start_ns, 2000u);
  EXPECT_EQ(works[1].node, node);
  EXPECT_EQ(works[1].end_ns - works[1].start_ns, 3000u);
  EXPECT_EQ(works[1].stream, kFirstStream);
  fake_cuda_launch(kFirstStream, "later", 500, 1, 1);
  EXPECT_EQ(Drain(timer).size(), 1u) << "those that were drained do not come again";
  source_->stop_timer(timer);
}

TEST_F(CudaTimerTest, EnablesTheKindsThatItTimesAlone) {
  void* timer = Start(kKernels);
  EXPECT_EQ(fake_cupti_enabled_kinds(), 1u);
  source_->stop_timer(timer);
  timer = Start(kKernels | kSets | kRegions);
  EXPECT_EQ(fake_cupti_enabled_kinds(), 4u);  // regions: numbers from outside, and the calls that carry them
  fake_cuda_memset(kFirstStream, 0, 100);
  fake_cuda_memcpy(kFirstStream, 1, 1, 3, 64, 0);
  EXPECT_EQ(Drain(timer).size(), 1u);
  source_->stop_timer(timer);
}

TEST_F(CudaTimerTest, GoesOnBesideWindowsAndIsLeftWithItsOwnKinds) {
  void* timer = Start(kKernels);
  Recording recording({.sources = {{&source_->source, cuda_source_flags::kSynchronization}}});
  ASSERT_TRUE(recording.Start().ok());
  fake_cuda_launch(kFirstStream, "within", 1000, 1, 1);
  fake_cuda_device_synchronize(0);
  recording.Stop();
  EXPECT_EQ(fake_cupti_enabled_kinds(), 1u);
  fake_cuda_launch(kFirstStream, "after", 1000, 1, 1);
  EXPECT_EQ(Drain(timer).size(), 2u);
  const auto trace = recording.ReadTrace().value();
  size_t kernels = 0;
  for (const SpanKind kind : trace->spans().kind)
    kernels += kind == SpanKind::kKernel ? 1 : 0;
  EXPECT_EQ(kernels, 1u);
  EXPECT_EQ(trace->problems().size(), 0u);
  source_->stop_timer(timer);
}

TEST_F(CudaTimerTest, TellsInWhichRegionACallWasMade) {
  void* timer = Start(kKernels | kRegions);
  ASSERT_TRUE(source_->push_region(11));
  const uint32_t outer = fake_cuda_launch(kFirstStream, "outer", 1000, 1, 1);
  ASSERT_TRUE(source_->push_region(12));
  const uint32_t inner = fake_cuda_launch(kFirstStream, "inner", 1000, 1, 1);
  uint64_t popped = 0;
  EXPECT_TRUE(source_->pop_region(&popped));
  EXPECT_EQ(popped, 12u);
  EXPECT_TRUE(source_->pop_region(&popped));
  EXPECT_FALSE(source_->pop_region(&popped));
  fake_cuda_launch(kFirstStream, "outside", 1000, 1, 1);
  EXPECT_EQ(Drain(timer).size(), 3u);
  std::map<uint32_t, uint64_t> regions;
  for (size_t i = 0; i < times_.region_count; ++i)
    regions[times_.regions[i].correlation] = times_.regions[i].region;
  EXPECT_THAT(regions, ElementsAre(testing::Pair(outer, 11), testing::Pair(inner, 12)));
  source_->stop_timer(timer);
}

TEST_F(CudaTimerTest, CountsWhatCuptiHadNoRoomFor) {
  fake_cupti_scenario("drop=4");
  void* timer = Start(kKernels);
  for (int i = 0; i < 20; ++i)
    fake_cuda_launch(kFirstStream, "kernel", 100, 1, 1);
  EXPECT_EQ(Drain(timer).size() + times_.dropped, 20u);
  EXPECT_EQ(times_.dropped, 5u);
  source_->stop_timer(timer);
}

TEST_F(CudaTimerTest, SaysWhyThereIsNone) {
  fake_cupti_holder("recording");
  char why[512] = "";
  EXPECT_EQ(source_->start_timer(kKernels, why, sizeof(why)), nullptr);
  EXPECT_THAT(why, HasSubstr("in use"));
  fake_cupti_holder("none");
}

}  // namespace
}  // namespace opscope

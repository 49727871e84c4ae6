// Windows that pause (Recording::Pause): what is launched meanwhile is not theirs.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_window.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CudaPause : public CudaFaults {};

TEST_F(CudaPause, LeavesOutWhatIsLaunchedMeanwhile) {
  WithEveryVersion("", [] {
    const auto recording = StartWindow();
    LaunchKernels(3, "before");
    recording->Pause(true, "cuda");
    const uint64_t issued = fake_cupti_issued(kKernelKind);
    LaunchKernels(5, "meanwhile");
    EXPECT_EQ(fake_cupti_issued(kKernelKind), issued) << "CUPTI rests";
    recording->Pause(false, "cuda");
    LaunchKernels(2, "after");
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    EXPECT_THAT(NamesOf(*trace, SpanKind::kKernel), ElementsAre("before", "before", "before", "after", "after"));
    EXPECT_EQ(CountOf(*trace, SpanKind::kRuntimeCall), 6u) << "five launches and the wait";
    EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

TEST_F(CudaPause, OfOneWindowLeavesTheOthersAsTheyAre) {
  WithEveryVersion("", [] {
    const auto first = StartWindow();
    const auto second = StartWindow();
    LaunchKernels(1, "one");
    first->Pause(true, "cuda");
    LaunchKernels(1, "two");
    fake_cuda_device_synchronize(0);
    first->Pause(false, "cuda");
    LaunchKernels(1, "three");
    fake_cuda_device_synchronize(0);
    EXPECT_THAT(NamesOf(*StopWindow(*first), SpanKind::kKernel), ElementsAre("one", "three"));
    const auto of_second = StopWindow(*second);
    EXPECT_THAT(NamesOf(*of_second, SpanKind::kKernel), ElementsAre("one", "two", "three"));
    EXPECT_EQ(of_second->problems().size(), 0u) << ProblemsOf(*of_second);
    ExpectNothingLeft();
  });
}

TEST_F(CudaPause, EndsWithTheWindow) {
  WithEveryVersion("", [] {
    for (int turn = 0; turn < 3; ++turn) {
      const auto recording = StartWindow();
      LaunchKernels(1, "before");
      recording->Pause(true);
      recording->Pause(true);
      LaunchKernels(1, "meanwhile");
      fake_cuda_device_synchronize(0);
      EXPECT_THAT(NamesOf(*StopWindow(*recording), SpanKind::kKernel), ElementsAre("before"));
      ExpectNothingLeft();
    }
    EXPECT_EQ(CountOf(*RecordKernels(4), SpanKind::kKernel), 4u) << "the next one records from its start on";
  });
}

TEST_F(CudaPause, HasNoWordForAnotherSource) {
  const auto recording = StartWindow();
  recording->Pause(true, "torch");
  LaunchKernels(2);
  fake_cuda_device_synchronize(0);
  EXPECT_EQ(CountOf(*StopWindow(*recording), SpanKind::kKernel), 2u);
}

TEST_F(CudaPause, HoldsForAWindowBesideOneThatBeginsMeanwhile) {
  const auto first = StartWindow();
  first->Pause(true, "cuda");
  const auto second = StartWindow();
  LaunchKernels(1, "of the second");
  fake_cuda_device_synchronize(0);
  EXPECT_THAT(NamesOf(*StopWindow(*second), SpanKind::kKernel), ElementsAre("of the second"));
  EXPECT_THAT(NamesOf(*StopWindow(*first), SpanKind::kKernel), IsEmpty());
  ExpectNothingLeft();
}

TEST_F(CudaPause, ThatCuptiRefusesIsTold) {
  InChildProcess("fail=cuptiActivityDisable(10):999", [] {
    const auto recording = StartWindow();
    recording->Pause(true, "cuda");
    LaunchKernels(2, "meanwhile");
    fake_cuda_device_synchronize(0);
    recording->Pause(false, "cuda");
    LaunchKernels(1, "after");
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    EXPECT_THAT(NamesOf(*trace, SpanKind::kKernel), ElementsAre("after"));
    EXPECT_EQ(ProblemOf(*trace, "device_call_failed").count, 2u) << "the pause, the stop: " << ProblemsOf(*trace);
  });
}

TEST_F(CudaPause, DoesNotWaitForACuptiThatHangs) {
  InChildProcess("hang=cuptiActivityDisable:30@1", [] {
    const auto recording = StartWindow();
    LaunchKernels(2);
    const auto begin = std::chrono::steady_clock::now();
    recording->Pause(true, "cuda");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    fake_cupti_end_hangs();
    EXPECT_EQ(ProblemOf(*StopWindow(*recording), "device_call_failed").count, 1u);
  });
}

}  // namespace
}  // namespace opscope

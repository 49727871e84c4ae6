// Another user of CUPTI in the process; no driver; two windows.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_window.h"

namespace opscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CudaHolder : public CudaFaults {};

TEST_F(CudaHolder, WhoRecordsLosesNothing) {
  WithEveryVersion("holder=recording", [] {
    LaunchKernels(5);
    const auto recording = StartWindow();
    EXPECT_THAT(WhyNotRecorded(*recording), HasSubstr("in use"));
    LaunchKernels(5);
    fake_cuda_device_synchronize(0);
    const auto trace = StopWindow(*recording);
    EXPECT_EQ(ProblemOf(*trace, "device_not_recorded").count, 1u);
    EXPECT_THAT(ProblemOf(*trace, "device_not_recorded").message, HasSubstr("in use"));
    EXPECT_EQ(fake_cupti_calls("cuptiActivityRegisterCallbacks"), 0u);
    EXPECT_EQ(fake_cupti_calls("cuptiActivityDisable"), 0u);
    EXPECT_EQ(fake_cupti_calls("cuptiActivityFlushAll"), 0u);
    EXPECT_STREQ(fake_cupti_violation_text(), "");
  });
}

TEST_F(CudaHolder, NextWindowTriesAgain) {
  WithEveryVersion("holder=recording", [] {
    EXPECT_EQ(CountOf(*RecordKernels(5), SpanKind::kKernel), 0u);
    fake_cupti_holder("none");
    const auto trace = RecordKernels(5);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 5u) << ProblemsOf(*trace);
    EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

// CUPTI has a query for its user from 13.2 on.
TEST_F(CudaHolder, WhoDoesNotRecordIsNoObstacleWhereCuptiCanBeAsked) {
  for (const char* version : {"13.5", "99"}) {
    InChildProcess(std::string("holder=idle;version=") + version, [] {
      const auto trace = RecordKernels(5);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 5u) << ProblemsOf(*trace);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaHolder, ProfilerOfTorchThatIsOverIsNoObstacle) {
  for (const char* version : {"12.1", "12.9", "13.0"}) {
    InChildProcess(std::string("holder=idle;version=") + version, [] {
      EXPECT_EQ(CountOf(*RecordKernels(5), SpanKind::kKernel), 0u) << "nobody knows whether it records";
      opscope_cuda_source()->set_torch_profiled(true);
      const auto trace = RecordKernels(5);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 5u) << ProblemsOf(*trace);
      opscope_cuda_source()->set_torch_profiled(false);
      EXPECT_EQ(CountOf(*RecordKernels(5), SpanKind::kKernel), 0u) << "it records again";
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaHolder, WhoComesInTheMiddleCannotHaveTheSubscription) {
  const auto recording = StartWindow();
  LaunchKernels(5);
  EXPECT_EQ(fake_cupti_subscribed(), 1u);
  fake_cuda_device_synchronize(0);
  EXPECT_EQ(CountOf(*StopWindow(*recording), SpanKind::kKernel), 5u);
  EXPECT_EQ(fake_cupti_subscribed(), 0u);
}

class CudaWithoutDriver : public CudaFaults {};

TEST_F(CudaWithoutDriver, IsSaidOnceAndNothingElseHappens) {
  WithEveryVersion("driver=none", [] {
    const auto recording = StartWindow();
    EXPECT_THAT(WhyNotRecorded(*recording), HasSubstr("no driver"));
    const auto trace = StopWindow(*recording);
    EXPECT_EQ(trace->problems().size(), 1u) << ProblemsOf(*trace);
    ExpectNothingLeft();
    char why[512] = "";
    opscope_cuda_source()->why_not(why, sizeof(why));
    EXPECT_THAT(std::string(why), HasSubstr("no driver"));
  });
}

class CudaDoctor : public CudaFaults {};

TEST_F(CudaDoctor, LeavesNothingEnabled) {
  WithEveryVersion("", [] {
    char why[512] = "not asked";
    opscope_cuda_source()->why_not(why, sizeof(why));
    EXPECT_STREQ(why, "");
    EXPECT_GE(opscope_cuda_source()->cupti_version(), 18u);
    EXPECT_STREQ(opscope_cuda_source()->cupti_path(), OPSCOPE_FAKE_CUPTI_FILE);
    ExpectNothingLeft();
    EXPECT_EQ(CountOf(*RecordKernels(5), SpanKind::kKernel), 5u) << "and a window can be had after it";
    ExpectNothingLeft();
  });
}

TEST_F(CudaDoctor, TakesNothingFromWhoRecords) {
  InChildProcess("version=13.5;holder=recording", [] {
    char why[512] = "";
    opscope_cuda_source()->why_not(why, sizeof(why));
    EXPECT_THAT(std::string(why), HasSubstr("in use"));
    EXPECT_STREQ(fake_cupti_violation_text(), "");
  });
}

class CudaWindows : public CudaFaults {};

TEST_F(CudaWindows, OverlapInEveryVersion) {
  WithEveryVersion("", [] {
    const auto first = StartWindow();
    LaunchKernels(1, "one");
    fake_cuda_device_synchronize(0);
    const auto second = StartWindow();
    LaunchKernels(1, "both");
    fake_cuda_device_synchronize(0);
    const auto of_first = StopWindow(*first);
    LaunchKernels(1, "two");
    fake_cuda_device_synchronize(0);
    const auto of_second = StopWindow(*second);
    EXPECT_THAT(NamesOf(*of_first, SpanKind::kKernel), ElementsAre("one", "both"));
    EXPECT_THAT(NamesOf(*of_second, SpanKind::kKernel), ElementsAre("both", "two"));
    ExpectNothingLeft();
  });
}

TEST_F(CudaWindows, OneAfterTheOtherHaveTheirOwn) {
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(CountOf(*RecordKernels(turn), SpanKind::kKernel), static_cast<size_t>(turn));
    ExpectNothingLeft();
    LaunchKernels(3, "between");
    fake_cuda_device_synchronize(0);
  }
}

}  // namespace
}  // namespace opscope

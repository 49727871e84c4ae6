// Buffers that come back late, from other threads, or never; records that CUPTI had no room for.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "cuda_window.h"

namespace opscope {
namespace {

class CudaBuffers : public CudaFaults {};

// Every record is in the trace or counted as lost.
void ExpectAllAccountedFor(const Trace& trace) {
  const uint64_t kernels = fake_cupti_issued(kKernelKind);
  const uint64_t calls = fake_cupti_issued(kRuntimeKind);
  const uint64_t seen = CountOf(trace, SpanKind::kKernel) + CountOf(trace, SpanKind::kRuntimeCall);
  EXPECT_LE(seen, kernels + calls);
  EXPECT_EQ(seen + ProblemOf(trace, "device_dropped").count + ProblemOf(trace, "device_incomplete").count,
            kernels + calls)
      << ProblemsOf(trace);
}

TEST_F(CudaBuffers, ComeFromWhateverThread) {
  for (const char* scenario :
       {"deliver=thread", "deliver=inline", "deliver=flush", "flush=thread", "deliver=flush;flush=thread",
        "thread_buffers=0", "thread_buffers=1", "deliver=inline;thread_buffers=0"}) {
    WithEveryVersion(scenario, [] {
      const auto recording = StartWindow();
      std::thread other([] { fake_cuda_launch_many(kStream, "other", 1, 20'000); });
      fake_cuda_launch_many(kStream, "own", 1, 20'000);
      other.join();
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(*recording);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 40'000u);
      EXPECT_EQ(CountOf(*trace, SpanKind::kRuntimeCall), 40'001u);
      EXPECT_EQ(trace->problems().size(), 0u) << ProblemsOf(*trace);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaBuffers, LittleLateAreWaitedFor) {
  WithEveryVersion("late=10", [] {
    const auto trace = RecordKernels(100);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 100u);
    EXPECT_EQ(ProblemOf(*trace, "device_late").count, 0u) << ProblemsOf(*trace);
    ExpectNothingLeft();
  });
}

TEST_F(CudaBuffers, TooLateAreCountedAndNoMatterForTheNextWindow) {
  WithEveryVersion("late=3600000", [] {
    const auto trace = RecordKernels(100);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 0u);
    EXPECT_GT(ProblemOf(*trace, "device_late").count, 0u);
    fake_cupti_deliver_late();
    fake_cupti_change("");
    const auto next = RecordKernels(50);
    EXPECT_EQ(CountOf(*next, SpanKind::kKernel), 50u) << "what came late is of the window before";
    EXPECT_EQ(next->problems().size(), 0u) << ProblemsOf(*next);
    ExpectNothingLeft();
  });
}

// They come while the next window is open.
TEST_F(CudaBuffers, OfTheWindowBeforeAreNotTakenForOnesOwn) {
  InChildProcess("late=3600000", [] {
    RecordKernels(100);
    fake_cupti_change("");
    const auto next = StartWindow();
    LaunchKernels(50);
    fake_cupti_deliver_late();
    fake_cuda_device_synchronize(0);
    EXPECT_EQ(CountOf(*StopWindow(*next), SpanKind::kKernel), 50u);
    ExpectNothingLeft();
  });
}

TEST_F(CudaBuffers, AskedForAfterTheEndAreNoMatter) {
  WithEveryVersion("after_disable=20", [] {
    const auto trace = RecordKernels(10);
    const auto kernels = NamesOf(*trace, SpanKind::kKernel);
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "gemm"), 10);
    EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "after_the_end"), 0);
    fake_cupti_deliver_late();
    const auto again = RecordKernels(10);
    EXPECT_EQ(CountOf(*again, SpanKind::kKernel), 10u) << ProblemsOf(*again);
    EXPECT_STREQ(fake_cupti_violation_text(), "");
  });
}

TEST_F(CudaBuffers, RecordsWithoutRoomAreCounted) {
  WithEveryVersion("drop=7", [] {
    const auto trace = RecordKernels(1000);
    EXPECT_EQ(ProblemOf(*trace, "device_dropped").count, fake_cupti_dropped(0));
    EXPECT_GT(fake_cupti_dropped(0), 200u);
    ExpectAllAccountedFor(*trace);
    ExpectNothingLeft();
  });
}

TEST_F(CudaBuffers, RecordsWithoutTimesAreLeftOutAndCounted) {
  WithEveryVersion("incomplete=3", [] {
    const auto trace = RecordKernels(300);
    EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), 200u);
    EXPECT_EQ(ProblemOf(*trace, "device_incomplete").count, 100u);
    EXPECT_EQ(CountOf(*trace, SpanKind::kRuntimeCall), 301u);
    ExpectNothingLeft();
  });
}

// A kernel that still runs when the window ends, without a synchronisation: CUPTI reports no end for it.
TEST_F(CudaBuffers, WorkThatHasNotEndedIsCounted) {
  const auto recording = StartWindow();
  LaunchKernels(3);
  fake_cuda_launch(kStream, "long", 3'000'000'000, 1, 32);
  const auto trace = StopWindow(*recording);
  const uint64_t seen = CountOf(*trace, SpanKind::kKernel);
  EXPECT_GE(seen, 3u);
  EXPECT_EQ(seen + ProblemOf(*trace, "device_incomplete").count, 4u) << ProblemsOf(*trace);
}

// A small memory cap that leaves few buffers for CUPTI: requests are declined from 12.9 on, records discarded before;
// always counted.
TEST_F(CudaBuffers, CapIsHeldAndWhatIsLostIsCounted) {
  for (const char* version : {"12.1", "12.9", "13.5"}) {
    InChildProcess(std::string("version=") + version, [] {
      Recording recording(
          RecordingOptions{.max_bytes = uint64_t{4} << 20, .sources = {{&opscope_cuda_source()->source}}});
      ASSERT_TRUE(recording.Start().ok());
      fake_cuda_launch_many(kStream, "k", 1, 100'000);
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(recording);
      const uint64_t seen = CountOf(*trace, SpanKind::kKernel) + CountOf(*trace, SpanKind::kRuntimeCall);
      EXPECT_LT(seen, 200'001u);
      EXPECT_GT(trace->info().dropped, 0u);
      // One chunk may be granted beyond it.
      EXPECT_LE(recording.counts().bytes, (uint64_t{4} << 20) + (uint64_t{256} << 10));
      ExpectNothingLeft();
    });
  }
}

}  // namespace
}  // namespace opscope

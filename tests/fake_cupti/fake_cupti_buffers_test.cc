// The simulated CUPTI's handling of the tool's buffers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tool_for_test.h"

namespace fake {
namespace {

constexpr auto kKernel = ActivityKind::kConcurrentKernel;

TEST(FakeCuptiBuffers, FillOneWithManyRecordsAndComeBackAtTheFlush) {
  Tool tool("version=12.1");
  tool.Start({kKernel, ActivityKind::kRuntime});
  for (int turn = 0; turn < 1000; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  EXPECT_TRUE(tool.done().empty());
  EXPECT_EQ(fake_cupti_buffers_held(), 1U);
  tool.Stop();
  EXPECT_EQ(tool.done().size(), 1U);
  EXPECT_EQ(tool.done()[0].by, std::this_thread::get_id());
  EXPECT_EQ(fake_cupti_buffers_held(), 0U);
  EXPECT_EQ(tool.Records().size(), 2001U);
}

TEST(FakeCuptiBuffers, OfThreadsAreApartFrom12_3On) {
  Tool tool("version=13.0");
  tool.Start({kKernel, ActivityKind::kRuntime});
  fake_cuda_launch(7, "k", 10, 1, 1);
  std::thread([] { fake_cuda_launch(7, "k", 10, 1, 1); }).join();
  tool.Stop();
  EXPECT_EQ(tool.done().size(), 3U);  // the devices', and of two threads
}

TEST(FakeCuptiBuffers, ComeBackFullFromAnotherThread) {
  Tool tool("version=13.0", 4096);
  tool.Start({kKernel});
  for (int turn = 0; turn < 500; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  const auto done = tool.done();
  ASSERT_GT(done.size(), 10U);
  // The last one, which is not full, comes from the flush.
  EXPECT_EQ(std::count_if(done.begin(), done.end(),
                          [](const Tool::Done& buffer) { return buffer.by == std::this_thread::get_id(); }),
            1);
  EXPECT_EQ(tool.Records().size(), 500U);
}

TEST(FakeCuptiBuffers, ComeBackFullFromTheThreadThatFilledThem) {
  Tool tool("version=13.0;deliver=inline", 4096);
  tool.Start({kKernel});
  for (int turn = 0; turn < 500; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  for (const Tool::Done& buffer : tool.done())
    EXPECT_EQ(buffer.by, std::this_thread::get_id());
  EXPECT_GT(tool.done().size(), 10U);
}

TEST(FakeCuptiBuffers, WaitForTheFlush) {
  Tool tool("version=13.0;deliver=flush", 4096);
  tool.Start({kKernel});
  for (int turn = 0; turn < 500; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  EXPECT_TRUE(tool.done().empty());
  tool.Stop();
  EXPECT_EQ(tool.Records().size(), 500U);
}

TEST(FakeCuptiBuffers, OfAFlushComeFromAnotherThreadBeforeItReturns) {
  Tool tool("version=13.0;flush=thread");
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  ASSERT_EQ(tool.done().size(), 1U);
  EXPECT_NE(tool.done()[0].by, std::this_thread::get_id());
}

TEST(FakeCuptiBuffers, ComeLate) {
  Tool tool("version=13.0;late=3600000");
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_TRUE(tool.done().empty());
  EXPECT_EQ(fake_cupti_buffers_held(), 1U);
  fake_cupti_deliver_late();
  EXPECT_EQ(tool.Records().size(), 1U);
}

TEST(FakeCuptiBuffers, NeverComeBack) {
  Tool tool("version=13.0;late=never");
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_TRUE(tool.done().empty());
  EXPECT_EQ(fake_cupti_buffers_held(), 1U);
}

TEST(FakeCuptiBuffers, AreAskedForAfterTheLastKindIsDisabled) {
  Tool tool("version=13.0;after_disable=3");
  tool.Start({kKernel});
  tool.Stop();
  fake_cupti_deliver_late();
  const auto late = tool.RecordsOf<cupti::Kernel9>(kKernel);
  ASSERT_EQ(late.size(), 3U);
  EXPECT_STREQ(late[0]->name, "after_the_end");
}

TEST(FakeCuptiBuffers, WithoutRoomRecordsAreDroppedAndCountedOnce) {
  Tool tool("version=12.9");
  tool.declines = true;
  tool.Start({kKernel});
  for (int turn = 0; turn < 10; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  std::size_t dropped = 0;
  EXPECT_EQ(CUPTI(ActivityGetNumDroppedRecords)(nullptr, 0, &dropped), Result::kSuccess);
  EXPECT_EQ(dropped, 10U);
  CUPTI(ActivityGetNumDroppedRecords)(nullptr, 0, &dropped);
  EXPECT_EQ(dropped, 0U);
  EXPECT_EQ(fake_cupti_dropped(0), 10U);
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST(FakeCuptiBuffers, EveryTenthRecordIsDropped) {
  Tool tool("version=13.0;drop=10");
  tool.Start({kKernel});
  for (int turn = 0; turn < 1000; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_EQ(tool.Records().size(), 900U);
  EXPECT_EQ(fake_cupti_dropped(static_cast<std::uint32_t>(kKernel)), 100U);
  EXPECT_EQ(fake_cupti_issued(0), fake_cupti_handed_back(0) + fake_cupti_dropped(0));
}

TEST(FakeCuptiBuffers, ForcedFlushGivesWhatHasNotEnded) {
  Tool tool("version=13.0");
  tool.Start({kKernel});
  fake_cuda_launch(7, "long", 2'000'000'000, 1, 1);
  EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kSuccess);
  EXPECT_TRUE(tool.Records().empty());
  EXPECT_EQ(CUPTI(ActivityFlushAll)(1), Result::kSuccess);
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(kKernel);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0]->end, 0U);
}

TEST(FakeCuptiBuffers, EveryOtherRecordIsIncomplete) {
  Tool tool("version=13.0;incomplete=2");
  tool.Start({kKernel});
  for (int turn = 0; turn < 10; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  const auto kernels = tool.RecordsOf<cupti::Kernel9>(kKernel);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(), [](const auto* kernel) { return kernel->end == 0; }), 5);
}

TEST(FakeCuptiBuffers, OrderIsTheScenarios) {
  const auto ordered = [](const char* order) {
    Tool tool(std::string("version=13.0;queue=100000;order=") + order);
    tool.Start({kKernel});
    for (int turn = 0; turn < 50; ++turn)
      fake_cuda_launch(7, "k", 10, 1, 1);
    tool.Stop();
    std::vector<std::uint32_t> ids;
    for (const auto* kernel : tool.RecordsOf<cupti::Kernel9>(kKernel))
      ids.push_back(kernel->correlation);
    return ids;
  };
  const auto completion = ordered("completion");
  EXPECT_TRUE(std::is_sorted(completion.begin(), completion.end()));
  const auto reversed = ordered("reversed");
  EXPECT_TRUE(std::is_sorted(reversed.rbegin(), reversed.rend()));
  auto shuffled = ordered("shuffled");
  EXPECT_NE(shuffled, completion);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled.size(), 50U);
}

TEST(FakeCuptiBuffers, KernelComesBeforeItsCall) {
  Tool tool("version=12.1;order=device_first");
  tool.Start({kKernel, ActivityKind::kRuntime});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  const auto records = tool.Records();
  EXPECT_EQ(records[0]->kind, kKernel);
  EXPECT_EQ(records[1]->kind, ActivityKind::kRuntime);
}

TEST(FakeCuptiBuffers, DevicesClockMayBeBehind) {
  Tool tool("version=13.0;early=50000");
  tool.Start({kKernel, ActivityKind::kRuntime});
  const std::uint32_t correlation = fake_cuda_launch(7, "k", 1000, 1, 1);
  tool.Stop();
  for (const auto* call : tool.RecordsOf<cupti::Api>(ActivityKind::kRuntime)) {
    if (call->correlation != correlation) continue;
    EXPECT_EQ(tool.RecordsOf<cupti::Kernel9>(kKernel)[0]->start, call->start - 50000);
  }
}

TEST(FakeCuptiBuffers, UnknownRecordsAndLongerOnesAreWalked) {
  Tool tool("version=13.5;unknown=10;longer=40");
  tool.Start({kKernel});
  for (int turn = 0; turn < 100; ++turn)
    fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_EQ(tool.RecordsOf<cupti::Kernel9>(kKernel).size(), 100U);
  EXPECT_EQ(tool.RecordsOf<cupti::Activity>(ActivityKind{777}).size(), 10U);
}

TEST(FakeCuptiBuffers, TwoMillionRecordsAllComeBack) {
  Tool tool("version=13.0", 8 << 20);
  tool.Start({kKernel, ActivityKind::kRuntime});
  fake_cuda_launch_many(7, "k", 1, 1'000'000);
  tool.Stop();
  EXPECT_EQ(fake_cupti_handed_back(static_cast<std::uint32_t>(kKernel)), 1'000'000U);
  EXPECT_EQ(fake_cupti_issued(0), 2'000'001U);
  EXPECT_EQ(fake_cupti_handed_back(0), 2'000'001U);
}

}  // namespace
}  // namespace fake

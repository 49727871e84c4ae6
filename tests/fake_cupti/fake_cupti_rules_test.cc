// The rules that the simulated CUPTI checks, and its injected faults.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "tool_for_test.h"

namespace fake {
namespace {

constexpr auto kKernel = ActivityKind::kConcurrentKernel;

void Ignore(void*, cupti::CallbackDomain, std::uint32_t, const void*) {
}

TEST(FakeCuptiRules, FlushInABufferCallbackIsRefused) {
  static Result answer;
  Tool tool("version=13.0");
  tool.in_completed = [] { answer = CUPTI(ActivityFlushAll)(0); };
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_EQ(answer, Result::kInvalidOperation);
  EXPECT_TRUE(Broken("in_buffer_callback"));
}

TEST(FakeCuptiRules, WalkingAndCountingInABufferCallbackIsAllowed) {
  Tool tool("version=13.0");
  tool.in_completed = [] {
    std::size_t dropped = 0;
    CUPTI(ActivityGetNumDroppedRecords)(nullptr, 0, &dropped);
  };
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST(FakeCuptiRules, FirstCallbacksThenKinds) {
  Tool tool("version=13.0");
  CUPTI(ActivityEnable)(ActivityKind::kRuntime);
  EXPECT_EQ(fake_cupti_violations(), 0U);
  fake_cuda_launch(7, "k", 10, 1, 1);
  EXPECT_TRUE(Broken("records_before_callbacks"));
  EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kInvalidOperation);
  EXPECT_TRUE(Broken("flushed_before_callbacks"));
}

TEST(FakeCuptiRules, BuffersAreAlignedAndLargeEnough) {
  {
    Tool tool("version=13.0");
    tool.misaligned_by = 4;
    tool.Start({kKernel});
    fake_cuda_launch(7, "k", 10, 1, 1);
    tool.Stop();
    EXPECT_TRUE(Broken("buffer_not_aligned"));
  }
  Tool tool("version=13.0", 64);
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_TRUE(Broken("buffer_too_small"));
}

TEST(FakeCuptiRules, OldLibrariesWantABuffer) {
  Tool tool("version=12.1");
  tool.declines = true;
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_TRUE(Broken("null_buffer"));
}

TEST(FakeCuptiRules, InterfacesAreNotMixed) {
  Tool tool("version=13.5");
  using EnableOfSubscriber = Result (*)(cupti::Subscriber, ActivityKind, void*);
  EXPECT_EQ(Find<EnableOfSubscriber>("ActivityEnable_v2")(nullptr, kKernel, nullptr), Result::kInvalidOperation);
  EXPECT_TRUE(Broken("forbidden_function"));
  Find<Result (*)()>("Finalize")();
  EXPECT_EQ(fake_cupti_violations(), 2U);
}

TEST(FakeCuptiRules, ForkedChildHasNoCupti) {
  Tool tool("version=13.0");
  tool.Start({kKernel});
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = CUPTI(ActivityFlushAll)(0) != Result::kSuccess;
    _exit(refused && Broken("forked") ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fake_cupti_violations(), 0U);
}

TEST(FakeCuptiRules, LockHeldAcrossACallIsFoundOut) {
  static std::mutex& of_the_tool = *new std::mutex;
  Tool tool("version=13.0");
  tool.in_completed = [] { const std::lock_guard lock(of_the_tool); };
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  fake_cuda_device_synchronize(0);
  std::thread flushes;
  {
    const std::lock_guard lock(of_the_tool);
    flushes = std::thread([] { CUPTI(ActivityFlushAll)(1); });
    while (fake_cupti_calls("cuptiActivityFlushAll") == 0)
      std::this_thread::yield();
    // The other thread waits for the lock inside its call within a few of these calls.
    for (int call = 0; call < 10'000'000 && !Broken("deadlock"); ++call)
      CUPTI(ActivityEnable)(ActivityKind::kMemset);
    EXPECT_TRUE(Broken("deadlock"));
  }
  flushes.join();
}

TEST(FakeCuptiFaults, EveryFunctionAnswersTheScenariosCode) {
  std::uint32_t number = 0;
  std::size_t size = 8;
  std::uint64_t word = 0;
  const char* name = nullptr;
  cupti::Activity* record = nullptr;
  cupti::Subscriber subscriber = nullptr;
  const auto requested = [](std::uint8_t**, std::size_t*, std::size_t*) {};
  const auto completed = [](cupti::CudaContext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {};
  const auto id = cupti::ExternalCorrelationKind::kCustom0;
  const std::map<std::string, std::function<Result()>> functions = {
      {"GetVersion", [&] { return CUPTI(GetVersion)(&number); }},
      {"GetResultString", [&] { return CUPTI(GetResultString)(Result::kSuccess, &name); }},
      {"GetTimestamp", [&] { return CUPTI(GetTimestamp)(&word); }},
      {"GetCallbackName", [&] { return CUPTI(GetCallbackName)(cupti::CallbackDomain::kRuntimeApi, 211, &name); }},
      {"ActivityRegisterCallbacks", [&] { return CUPTI(ActivityRegisterCallbacks)(requested, completed); }},
      {"ActivityEnable", [&] { return CUPTI(ActivityEnable)(kKernel); }},
      {"ActivityEnableAndDump", [&] { return CUPTI(ActivityEnableAndDump)(ActivityKind::kDevice); }},
      {"ActivityDisable", [&] { return CUPTI(ActivityDisable)(kKernel); }},
      {"ActivityFlushAll", [&] { return CUPTI(ActivityFlushAll)(0); }},
      {"ActivityGetNextRecord", [&] { return CUPTI(ActivityGetNextRecord)(nullptr, 0, &record); }},
      {"ActivityGetNumDroppedRecords", [&] { return CUPTI(ActivityGetNumDroppedRecords)(nullptr, 0, &size); }},
      {"Subscribe", [&] { return CUPTI(Subscribe)(&subscriber, Ignore, nullptr); }},
      {"Subscribe_v2", [&] { return CUPTI(Subscribe_v2)(&subscriber, Ignore, nullptr, nullptr); }},
      {"Unsubscribe", [&] { return CUPTI(Unsubscribe)(subscriber); }},
      {"SetThreadIdType", [&] { return CUPTI(SetThreadIdType)(cupti::ThreadIdType::kSystem); }},
      {"ActivityPushExternalCorrelationId", [&] { return CUPTI(ActivityPushExternalCorrelationId)(id, 1); }},
      {"ActivityPopExternalCorrelationId", [&] { return CUPTI(ActivityPopExternalCorrelationId)(id, &word); }},
      {"ActivityEnableCudaEventDeviceTimestamps", [&] { return CUPTI(ActivityEnableCudaEventDeviceTimestamps)(1); }},
      {"ActivityGetEnabledKinds", [&] { return CUPTI(ActivityGetEnabledKinds)(nullptr, nullptr, nullptr, &number); }},
  };
  for (const auto& [function, call] : functions) {
    Tool tool("version=13.5;fail=cupti" + function + ":35");
    EXPECT_EQ(call(), Result::kInsufficientPrivileges) << function;
    EXPECT_EQ(fake_cupti_calls(("cupti" + function).c_str()), 1U) << function;
  }
}

TEST(FakeCuptiFaults, CodeIsForOneKindOrOneCall) {
  Tool tool("version=13.0;fail=cuptiActivityEnable(20):27,cuptiActivityDisable:7@2,cuptiActivityFlushAll:999@2+");
  CUPTI(ActivityRegisterCallbacks)
  ([](std::uint8_t**, std::size_t*, std::size_t*) {},
   [](cupti::CudaContext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {});
  EXPECT_EQ(CUPTI(ActivityEnable)(kKernel), Result::kSuccess);
  EXPECT_EQ(CUPTI(ActivityEnable)(ActivityKind::kEnvironment), Result::kNotSupported);
  EXPECT_EQ(CUPTI(ActivityDisable)(kKernel), Result::kSuccess);
  EXPECT_EQ(CUPTI(ActivityDisable)(kKernel), Result::kInvalidOperation);
  EXPECT_EQ(CUPTI(ActivityDisable)(kKernel), Result::kSuccess);
  EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kSuccess);
  EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kUnknown);
  EXPECT_EQ(CUPTI(ActivityFlushAll)(0), Result::kUnknown);
}

TEST(FakeCuptiFaults, VersionsLackWhatTheyLack) {
  {
    Tool tool("version=12.1");
    EXPECT_EQ(CUPTI(Subscribe_v2), nullptr);
    EXPECT_NE(CUPTI(Subscribe), nullptr);
    EXPECT_EQ(CUPTI(ActivityEnable)(ActivityKind::kCudaEvent), Result::kInvalidKind);
  }
  {
    Tool tool("version=13.0");
    EXPECT_NE(CUPTI(Subscribe_v2), nullptr);
    EXPECT_EQ(CUPTI(ActivityGetEnabledKinds), nullptr);
  }
  Tool tool("version=13.5;missing=cuptiActivityFlushAll");
  EXPECT_NE(CUPTI(ActivityGetEnabledKinds), nullptr);
  EXPECT_EQ(CUPTI(ActivityFlushAll), nullptr);
}

TEST(FakeCuptiFaults, WithoutADriverItAnswersAsTheRealLibraries) {
  for (const auto& [version, code] : std::map<std::string, Result>{
           {"12.1", Result::kNotInitialized}, {"12.9", Result::kNotInitialized}, {"13.0", Result::kUnknown}}) {
    Tool tool("driver=none;version=" + version);
    std::uint32_t number = 0;
    EXPECT_EQ(CUPTI(GetVersion)(&number), Result::kSuccess) << version;
    EXPECT_EQ(CUPTI(ActivityEnable)(kKernel), code) << version;
    cupti::Subscriber subscriber = nullptr;
    EXPECT_EQ(CUPTI(Subscribe)(&subscriber, Ignore, nullptr), code) << version;
  }
  Tool tool("driver=none;version=13.5");
  std::uint32_t number = 7;
  EXPECT_EQ(CUPTI(GetVersion)(&number), Result::kUnknown);
  EXPECT_EQ(number, 7U);
}

TEST(FakeCuptiFaults, CallHangsUntilItIsLetGo) {
  Tool tool("version=13.0;hang=cuptiActivityFlushAll:3600");
  tool.Start({kKernel});
  std::thread hangs([] { CUPTI(ActivityFlushAll)(0); });
  while (fake_cupti_calls("cuptiActivityFlushAll") == 0)
    std::this_thread::yield();
  EXPECT_EQ(CUPTI(ActivityDisable)(kKernel), Result::kSuccess);  // the lock is free
  // It may not have begun to wait yet.
  std::thread ends([&] {
    while (std::string(fake_cupti_log()).find("FlushAll(0)=") == std::string::npos) {
      fake_cupti_end_hangs();
      std::this_thread::yield();
    }
  });
  hangs.join();
  ends.join();
}

TEST(FakeCuptiHolder, IdleHolderKeepsTheSubscriptionAlone) {
  Tool tool("version=13.5;holder=idle");
  cupti::Subscriber subscriber = nullptr;
  char holder[64] = "";
  cupti::SubscriberParams params{};
  params.struct_size = sizeof(params);
  params.subscriber_name = "tool";
  params.old_subscriber_name = holder;
  params.old_subscriber_size = sizeof(holder);
  EXPECT_EQ(CUPTI(Subscribe_v2)(&subscriber, Ignore, nullptr, &params), Result::kMultipleSubscribersNotSupported);
  EXPECT_STREQ(holder, "simulated_holder");
  std::uint32_t count = 99;
  EXPECT_EQ(CUPTI(ActivityGetEnabledKinds)(nullptr, nullptr, nullptr, &count), Result::kSuccess);
  EXPECT_EQ(count, 0U);
  tool.Start({kKernel});
  fake_cuda_launch(7, "k", 10, 1, 1);
  tool.Stop();
  EXPECT_EQ(tool.Records().size(), 1U);
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST(FakeCuptiHolder, RecordingHolderIsNotToBeRobbed) {
  Tool tool("version=13.5;holder=recording");
  std::uint32_t count = 0;
  EXPECT_EQ(CUPTI(ActivityGetEnabledKinds)(nullptr, nullptr, nullptr, &count), Result::kSuccess);
  EXPECT_EQ(count, 4U);
  fake_cuda_launch(7, "k", 10, 1, 1);
  fake_cuda_device_synchronize(0);
  tool.Start({kKernel});
  EXPECT_TRUE(Broken("took_holders_callbacks"));
  CUPTI(ActivityDisable)(kKernel);
  EXPECT_TRUE(Broken("disabled_holders_kind"));
  CUPTI(ActivityFlushAll)(1);
  EXPECT_EQ(fake_cupti_holder_records(), 3U);  // two calls and the kernel, from before
}

TEST(FakeCuptiHolder, GoesAndLeavesRoom) {
  Tool tool("version=13.0;holder=recording");
  cupti::Subscriber subscriber = nullptr;
  EXPECT_EQ(CUPTI(Subscribe)(&subscriber, Ignore, nullptr), Result::kMultipleSubscribersNotSupported);
  fake_cupti_holder("none");
  EXPECT_EQ(CUPTI(Subscribe)(&subscriber, Ignore, nullptr), Result::kSuccess);
  EXPECT_EQ(fake_cupti_subscribed(), 1U);
  EXPECT_EQ(CUPTI(Subscribe)(&subscriber, Ignore, nullptr), Result::kMultipleSubscribersNotSupported);
  EXPECT_EQ(CUPTI(Unsubscribe)(subscriber), Result::kSuccess);
  EXPECT_EQ(fake_cupti_subscribed(), 0U);
}

}  // namespace
}  // namespace fake

// Every function of CUPTI returning an error, missing, or blocking.
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "cuda_window.h"

namespace opscope {
namespace {

using testing::HasSubstr;

constexpr const char* kNeeded[] = {"cuptiGetVersion",
                                   "cuptiGetResultString",
                                   "cuptiActivityRegisterCallbacks",
                                   "cuptiActivityEnable",
                                   "cuptiActivityDisable",
                                   "cuptiActivityFlushAll",
                                   "cuptiActivityGetNextRecord",
                                   "cuptiActivityGetNumDroppedRecords"};
constexpr const char* kUsed[] = {"cuptiSubscribe",
                                 "cuptiSubscribe_v2",
                                 "cuptiUnsubscribe",
                                 "cuptiGetTimestamp",
                                 "cuptiGetCallbackName",
                                 "cuptiSetThreadIdType",
                                 "cuptiActivityEnableAndDump",
                                 "cuptiActivityPushExternalCorrelationId",
                                 "cuptiActivityPopExternalCorrelationId",
                                 "cuptiActivityEnableCudaEventDeviceTimestamps",
                                 "cuptiActivityGetEnabledKinds"};

// All that CUPTI 13.5 has, by the words that stand for them.
const std::map<uint32_t, std::string>& Codes() {
  static const auto& codes = *[] {
    auto* all = new std::map<uint32_t, std::string>;
    for (uint32_t code = 1; code <= 47; ++code)
      (*all)[code] = "CUPTI_ERROR_";
    (*all)[999] = (*all)[15] = "no driver";
    for (uint32_t code : {35u, 40u})
      (*all)[code] = "permission";
    for (uint32_t code : {27u, 33u, 41u, 42u, 43u, 44u, 45u})
      (*all)[code] = "not supported";
    for (uint32_t code : {39u, 23u})
      (*all)[code] = "in use";
    return all;
  }();
  return codes;
}

constexpr int kKernels = 10;

// A window under the fault: the program continues, and the trace reports what is missing.
void ExpectTold(const Trace& trace, const std::string& fault) {
  if (ProblemOf(trace, "device_not_recorded").count > 0) {
    EXPECT_EQ(CountOf(trace, SpanKind::kKernel), 0u) << fault;
    return;
  }
  if (CountOf(trace, SpanKind::kKernel) == kKernels) return;
  EXPECT_GT(ProblemOf(trace, "device_call_failed").count + ProblemOf(trace, "device_late").count +
                ProblemOf(trace, "device_flush_timeout").count,
            0u)
      << fault << ": " << CountOf(trace, SpanKind::kKernel) << " kernels and not a word: " << ProblemsOf(trace);
}

class CudaErrors : public CudaFaults, public testing::WithParamInterface<const char*> {};
std::vector<const char*> AllFunctions() {
  std::vector<const char*> all(std::begin(kNeeded), std::end(kNeeded));
  all.insert(all.end(), std::begin(kUsed), std::end(kUsed));
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, CudaErrors, testing::ValuesIn(AllFunctions()),
                         [](const auto& function) { return std::string(function.param); });

TEST_P(CudaErrors, CostsTheWindowAtMostAndTheNextIsWhole) {
  const std::string function = GetParam();
  EXPECT_EQ(CountOf(*RecordKernels(kKernels), SpanKind::kKernel), size_t{kKernels});
  for (const auto& [code, words] : Codes()) {
    // That is how the walker says that a buffer has no further record.
    if (function == "cuptiActivityGetNextRecord" && code == 12) continue;
    const std::string fault = "fail=" + function + ":" + std::to_string(code);
    fake_cupti_change(fault.c_str());
    ExpectTold(*RecordKernels(kKernels), fault);
    fake_cupti_change("");
    const auto next = RecordKernels(kKernels);
    EXPECT_EQ(CountOf(*next, SpanKind::kKernel), size_t{kKernels}) << "after " << fault << ": " << ProblemsOf(*next);
    EXPECT_EQ(ProblemOf(*next, "device_call_failed").count, 0u) << "after " << fault << ": " << ProblemsOf(*next);
    ExpectNothingLeft();
    if (HasFailure()) break;
  }
}

TEST_P(CudaErrors, IsNoMatterAfterTheWindowIsOpen) {
  const std::string function = GetParam();
  for (uint32_t code : {7u, 15u, 999u}) {
    const std::string fault = "fail=" + function + ":" + std::to_string(code);
    const auto recording = StartWindow();
    fake_cupti_change(fault.c_str());
    LaunchKernels(kKernels);
    fake_cuda_device_synchronize(0);
    ExpectTold(*StopWindow(*recording), fault);
    fake_cupti_change("");
    EXPECT_EQ(CountOf(*RecordKernels(kKernels), SpanKind::kKernel), size_t{kKernels}) << "after " << fault;
    ExpectNothingLeft();
  }
}

class CudaWords : public CudaFaults {};

TEST_F(CudaWords, SayWhyNothingIsRecordedForEveryCode) {
  RecordKernels(1);
  for (const char* function : {"cuptiActivityEnable(10)", "cuptiSubscribe_v2"}) {
    for (const auto& [code, words] : Codes()) {
      if (function == std::string("cuptiSubscribe_v2") && code == 39) continue;  // then it asks who holds it
      const std::string fault = std::string("fail=") + function + ":" + std::to_string(code);
      fake_cupti_change(fault.c_str());
      const auto recording = StartWindow();
      EXPECT_THAT(WhyNotRecorded(*recording), HasSubstr(words)) << fault;
      EXPECT_THAT(WhyNotRecorded(*recording), HasSubstr("CUDA")) << fault;
      const auto trace = StopWindow(*recording);
      const Fact problem = ProblemOf(*trace, "device_not_recorded");
      EXPECT_EQ(problem.count, 1u) << fault;
      EXPECT_THAT(problem.message, HasSubstr(words)) << fault;
      EXPECT_THAT(problem.message, HasSubstr("CUPTI_ERROR_")) << fault;
      fake_cupti_change("");
    }
  }
  ExpectNothingLeft();
}

TEST_F(CudaWords, RefusedKindCostsOnlyItself) {
  for (int kind : {1, 2, 4, 5, 8, 9, 17, 22, 37}) {
    const std::string fault = "fail=cuptiActivityEnable(" + std::to_string(kind) + "):27,cuptiActivityEnableAndDump(" +
                              std::to_string(kind) + "):27";
    fake_cupti_scenario(fault.c_str());
    EXPECT_EQ(CountOf(*RecordKernels(kKernels), SpanKind::kKernel), size_t{kKernels}) << fault;
    ExpectNothingLeft();
  }
}

class CudaMissing : public CudaFaults {};

TEST_F(CudaMissing, NeededFunctionMakesItTooOld) {
  for (const char* function : kNeeded) {
    InChildProcess(std::string("missing=") + function, [] {
      const auto recording = StartWindow();
      EXPECT_THAT(WhyNotRecorded(*recording), HasSubstr("too old"));
      EXPECT_EQ(ProblemOf(*StopWindow(*recording), "device_not_recorded").count, 1u);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaMissing, OtherFunctionIsDoneWithout) {
  for (const char* function : kUsed) {
    InChildProcess(std::string("missing=") + function, [] {
      const auto trace = RecordKernels(kKernels);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), size_t{kKernels}) << ProblemsOf(*trace);
      EXPECT_EQ(CountOf(*trace, SpanKind::kRuntimeCall), size_t{kKernels} + 1);
      fake_cupti_change("missing=");
      EXPECT_STREQ(fake_cupti_violation_text(), "");
      EXPECT_EQ(fake_cupti_enabled_kinds(), 0u);
    });
  }
}

TEST_F(CudaMissing, VersionThatCannotBeReadIsSaid) {
  InChildProcess("fail=cuptiGetVersion:1", [] {
    const auto recording = StartWindow();
    EXPECT_NE(WhyNotRecorded(*recording), "");
    EXPECT_EQ(ProblemOf(*StopWindow(*recording), "device_not_recorded").count, 1u);
    ExpectNothingLeft();
  });
}

class CudaHangs : public CudaFaults {};

// A call that blocks forever loses the window but does not stop the program.
TEST_F(CudaHangs, EveryCallOfAStopMayHang) {
  for (const char* function : {"cuptiActivityDisable", "cuptiActivityFlushAll", "cuptiActivityGetNumDroppedRecords",
                               "cuptiUnsubscribe", "cuptiActivityGetNextRecord"}) {
    InChildProcess(std::string("hang=") + function + ":30", [] {
      const auto recording = StartWindow();
      LaunchKernels(kKernels);
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(*recording);
      EXPECT_GT(ProblemOf(*trace, "device_flush_timeout").count, 0u) << ProblemsOf(*trace);
      EXPECT_STREQ(fake_cupti_violation_text(), "");
    });
  }
}

// The blocked call is abandoned: it will do nothing when it returns, and the next window receives the buffers that it
// held.
TEST_F(CudaHangs, TheWindowAfterAStopThatHangsStartsAnew) {
  for (const char* function : {"cuptiActivityDisable", "cuptiActivityFlushAll"}) {
    InChildProcess(std::string("hang=") + function + ":6@1", [] {
      const auto recording = StartWindow();
      LaunchKernels(kKernels);
      fake_cuda_device_synchronize(0);
      EXPECT_GT(ProblemOf(*StopWindow(*recording), "device_flush_timeout").count, 0u);
      const auto next = StartWindow();
      EXPECT_EQ(WhyNotRecorded(*next), "");
      std::this_thread::sleep_for(std::chrono::seconds(3));  // meanwhile the stuck call comes back
      LaunchKernels(kKernels);
      fake_cuda_device_synchronize(0);
      const auto trace = StopWindow(*next);
      EXPECT_EQ(CountOf(*trace, SpanKind::kKernel), size_t{kKernels}) << ProblemsOf(*trace);
      ExpectNothingLeft();
    });
  }
}

TEST_F(CudaHangs, StartGivesUpToo) {
  for (const char* function : {"cuptiSubscribe_v2", "cuptiActivityRegisterCallbacks", "cuptiActivityEnable"}) {
    InChildProcess(std::string("hang=") + function + ":30", [] {
      const auto begin = std::chrono::steady_clock::now();
      const auto recording = StartWindow();
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
      EXPECT_NE(WhyNotRecorded(*recording), "");
      EXPECT_EQ(ProblemOf(*StopWindow(*recording), "device_not_recorded").count, 1u);
    });
  }
}

}  // namespace
}  // namespace opscope

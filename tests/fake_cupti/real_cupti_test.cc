// The real library, as the wheels of NVIDIA bring it, on a machine without a driver: it has what cupti_abi.h declares,
// and returns what the simulated one returns with driver=none. OPSCOPE_REAL_CUPTI names the file.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "scenario.h"
#include "sources/cuda/cupti_abi.h"

namespace fake {
namespace {

using cupti::ActivityKind;
using cupti::Result;

class RealCupti : public testing::Test {
 protected:
  void SetUp() override {
    const char* const file = std::getenv("OPSCOPE_REAL_CUPTI");
    if (file == nullptr) GTEST_SKIP() << "OPSCOPE_REAL_CUPTI names no libcupti";
    library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  template <class Function>
  Function Find(const std::string& name) const {
    return reinterpret_cast<Function>(dlsym(library_, ("cupti" + name).c_str()));
  }

  // From 13.5 on it does not even say its version without a driver.
  std::uint32_t Version() const {
    std::uint32_t version = 130500;
    Find<cupti::GetVersion>("GetVersion")(&version);
    return version;
  }

  void* library_ = nullptr;
};

TEST_F(RealCupti, HasEveryDeclaredFunctionOfItsVersion) {
  Scenario scenario;
  scenario.api = Version();
  ASSERT_GE(scenario.api, cupti::kOldestApi);
  for (const char* name : {"GetVersion",
                           "GetResultString",
                           "ActivityRegisterCallbacks",
                           "ActivityEnable",
                           "ActivityDisable",
                           "ActivityFlushAll",
                           "ActivityGetNextRecord",
                           "ActivityGetNumDroppedRecords",
                           "Subscribe",
                           "Subscribe_v2",
                           "Unsubscribe",
                           "GetTimestamp",
                           "GetCallbackName",
                           "EnableCallback",
                           "GetGraphNodeId",
                           "GetGraphId",
                           "GetGraphExecId",
                           "SetThreadIdType",
                           "ActivityEnableAndDump",
                           "ActivityPushExternalCorrelationId",
                           "ActivityPopExternalCorrelationId",
                           "ActivityEnableCudaEventDeviceTimestamps",
                           "ActivityGetEnabledKinds"}) {
    EXPECT_EQ(Find<void*>(name) != nullptr, HasFunction(scenario, std::string("cupti") + name)) << name;
  }
}

TEST_F(RealCupti, SaysThatThereIsNoDriver) {
  if (access("/dev/nvidiactl", F_OK) == 0) GTEST_SKIP() << "there is a driver";
  const Result no_driver = Version() >= 130001 ? Result::kUnknown : Result::kNotInitialized;
  EXPECT_EQ(Find<cupti::ActivityEnable>("ActivityEnable")(ActivityKind::kConcurrentKernel), no_driver);
  cupti::Subscriber subscriber = nullptr;
  const auto callback = [](void*, cupti::CallbackDomain, std::uint32_t, const void*) {};
  EXPECT_EQ(Find<cupti::Subscribe>("Subscribe")(&subscriber, callback, nullptr), no_driver);
}

TEST_F(RealCupti, WalksRecordsWithoutADriver) {
  if (Version() >= 130500) GTEST_SKIP() << "from 13.5 on it answers nothing without a driver";
  alignas(8) std::uint8_t buffer[sizeof(cupti::ExternalCorrelation) + sizeof(cupti::Api)] = {};
  auto* const first = reinterpret_cast<cupti::ExternalCorrelation*>(buffer);
  first->kind = ActivityKind::kExternalCorrelation;
  auto* const second = reinterpret_cast<cupti::Api*>(first + 1);
  second->kind = ActivityKind::kRuntime;
  const auto next = Find<cupti::ActivityGetNextRecord>("ActivityGetNextRecord");
  cupti::Activity* record = nullptr;
  EXPECT_EQ(next(buffer, sizeof(buffer), &record), Result::kSuccess);
  EXPECT_EQ(static_cast<void*>(record), first);
  EXPECT_EQ(next(buffer, sizeof(buffer), &record), Result::kSuccess);
  EXPECT_EQ(static_cast<void*>(record), second);
  EXPECT_EQ(next(buffer, sizeof(buffer), &record), Result::kMaxLimitReached);
}

TEST_F(RealCupti, WalksHostNodesOfGraphsWhereItHasThem) {
  if (Version() >= 130500) GTEST_SKIP() << "from 13.5 on it answers nothing without a driver";
  alignas(8) std::uint8_t buffer[2 * sizeof(cupti::GraphHostNode)] = {};
  auto* const nodes = reinterpret_cast<cupti::GraphHostNode*>(buffer);
  nodes[0].kind = nodes[1].kind = ActivityKind::kGraphHostNode;
  const auto next = Find<cupti::ActivityGetNextRecord>("ActivityGetNextRecord");
  cupti::Activity* record = nullptr;
  if (Version() < cupti::GraphHostNode::kSince) {
    EXPECT_NE(next(buffer, sizeof(buffer), &record), Result::kSuccess);
    return;
  }
  for (cupti::GraphHostNode& node : {std::ref(nodes[0]), std::ref(nodes[1])}) {
    EXPECT_EQ(next(buffer, sizeof(buffer), &record), Result::kSuccess);
    EXPECT_EQ(static_cast<void*>(record), &node);
  }
  EXPECT_EQ(next(buffer, sizeof(buffer), &record), Result::kMaxLimitReached);
}

TEST_F(RealCupti, NamesCallsAndCodes) {
  if (Version() >= 130500) GTEST_SKIP() << "from 13.5 on it answers nothing without a driver";
  const char* name = nullptr;
  EXPECT_EQ(Find<cupti::GetCallbackName>("GetCallbackName")(cupti::CallbackDomain::kRuntimeApi, 211, &name),
            Result::kSuccess);
  EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
  EXPECT_EQ(Find<cupti::GetResultString>("GetResultString")(Result::kInsufficientPrivileges, &name), Result::kSuccess);
  EXPECT_STREQ(name, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES");
}

}  // namespace
}  // namespace fake

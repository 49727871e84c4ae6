// The simulated driver and NVML.
// SPDX-License-Identifier: Apache-2.0
#include "tool_for_test.h"

namespace fake {
namespace {

template <class... Arguments>
std::uint32_t Ask(const char* library, const char* function, Arguments... arguments) {
  void* const handle = dlopen((std::string(OPSCOPE_FAKE_DRIVER_DIR "/") + library).c_str(), RTLD_NOW);
  EXPECT_NE(handle, nullptr) << dlerror();
  return reinterpret_cast<std::uint32_t (*)(Arguments...)>(dlsym(handle, function))(arguments...);
}
constexpr char kDriver[] = "libcuda.so.1";
constexpr char kNvml[] = "libnvidia-ml.so.1";

TEST(FakeDriver, TellsOfItsDevices) {
  Tool tool("version=12.9;devices=2");
  int number = 0;
  EXPECT_EQ(Ask(kDriver, "cuInit", 0U), 0U);
  EXPECT_EQ(Ask(kDriver, "cuDriverGetVersion", &number), 0U);
  EXPECT_EQ(number, 12090);
  EXPECT_EQ(Ask(kDriver, "cuDeviceGetCount", &number), 0U);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(Ask(kDriver, "cuDeviceGetAttribute", &number, 16, 1), 0U);
  EXPECT_EQ(number, 132);
  EXPECT_EQ(Ask(kDriver, "cuDeviceGetAttribute", &number, 16, 2), 101U);
}

TEST(FakeDriver, HasNoDeviceWithoutADriver) {
  Tool tool("driver=none");
  EXPECT_EQ(Ask(kDriver, "cuInit", 0U), 100U);
}

TEST(FakeDriver, SynchronizeWaitsForTheContextThatThereIs) {
  Tool tool("version=13.0");
  tool.Start({ActivityKind::kConcurrentKernel, ActivityKind::kDriver});
  EXPECT_EQ(Ask(kDriver, "cuInit", 0U), 0U);
  EXPECT_EQ(Ask(kDriver, "cuCtxSynchronize"), 201U);
  fake_cuda_launch(7, "k", 2'000'000, 1, 1);
  EXPECT_EQ(Ask(kDriver, "cuCtxSynchronize"), 0U);
  EXPECT_EQ(fake_cupti_issued(static_cast<std::uint32_t>(ActivityKind::kConcurrentKernel)), 1U);
  EXPECT_EQ(fake_cupti_issued(static_cast<std::uint32_t>(ActivityKind::kDriver)), 1U);
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST(FakeDriver, NoContextIsToBeMade) {
  Tool tool("version=13.0");
  void* context = nullptr;
  EXPECT_NE(Ask(kDriver, "cuDevicePrimaryCtxRetain", &context, 0), 0U);
  EXPECT_TRUE(Broken("made_a_context"));
}

TEST(FakeNvml, MeasuresPowerAndClock) {
  Tool tool("version=13.0;devices=2");
  unsigned number = 0;
  EXPECT_EQ(Ask(kNvml, "nvmlInit_v2"), 0U);
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetCount_v2", &number), 0U);
  EXPECT_EQ(number, 2U);
  void* device = nullptr;
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetHandleByIndex_v2", 1U, &device), 0U);
  unsigned first = 0;
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetPowerUsage", device, &first), 0U);
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetPowerUsage", device, &number), 0U);
  EXPECT_EQ(first, 400'000U);
  EXPECT_EQ(number, 401'000U);
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetClockInfo", device, 1U, &number), 0U);
  EXPECT_EQ(number, 1980U);
  EXPECT_EQ(Ask(kNvml, "nvmlShutdown"), 0U);
  EXPECT_EQ(fake_cupti_calls("nvmlDeviceGetPowerUsage"), 2U);
  EXPECT_EQ(fake_cupti_violations(), 0U) << fake_cupti_violation_text();
}

TEST(FakeNvml, IsToBeInitialised) {
  Tool tool("version=13.0");
  unsigned number = 0;
  EXPECT_EQ(Ask(kNvml, "nvmlDeviceGetCount_v2", &number), 1U);
  EXPECT_TRUE(Broken("nvml_before_init"));
}

TEST(FakeNvml, AnswersTheScenariosCode) {
  Tool tool("version=13.0;fail=nvmlInit_v2:9");
  EXPECT_EQ(Ask(kNvml, "nvmlInit_v2"), 9U);
}

}  // namespace
}  // namespace fake

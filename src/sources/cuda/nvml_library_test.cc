// Which of NVML's devices are those that CUDA shows.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/nvml_library.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace opscope::cuda {
namespace {

// A machine with three GPUs, of which CUDA shows the last and the first.
char slots[3];
constexpr std::string_view kUuids[] = {"GPU-00000000-0000-0000-0000-000000000001",
                                       "GPU-00000000-0000-0000-0000-000000000002",
                                       "GPU-a1000000-0000-0000-0000-0000000000ff"};

NvmlFunctions Nvml() {
  return {.DeviceGetCount = [](unsigned* count) -> uint32_t { return *count = 3, 0; },
          .DeviceGetHandleByIndex = [](unsigned index, NvmlDevice* device) -> uint32_t {
            return *device = &slots[index], 0;
          },
          .DeviceGetHandleByUUID = [](const char* uuid, NvmlDevice* device) -> uint32_t {
            for (size_t i = 0; i < std::size(kUuids); ++i) {
              if (kUuids[i] == uuid) return *device = &slots[i], 0;
            }
            return 6;
          }};
}

DriverFunctions Driver() {
  return {.DeviceGetCount = [](int* count) -> uint32_t { return *count = 2, 0; },
          .DeviceGet = [](int* device, int ordinal) -> uint32_t { return *device = 10 + ordinal, 0; },
          .DeviceGetUuid = [](DriverFunctions::Uuid* uuid, int device) -> uint32_t {
            if (device == 10) uuid->bytes[0] = 0xa1;
            uuid->bytes[15] = device == 10 ? 0xff : 1;
            return 0;
          }};
}

TEST(NvmlDevices, AreFoundByTheirUuids) {
  const std::vector<ReadDevice> devices = FindDevices(Nvml(), Driver());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].device, 0u);
  EXPECT_EQ(devices[0].handle, &slots[2]);
  EXPECT_EQ(devices[1].device, 1u);
  EXPECT_EQ(devices[1].handle, &slots[0]);
}

TEST(NvmlDevices, ThatNvmlDoesNotKnowAreLeftOut) {
  DriverFunctions driver = Driver();
  driver.DeviceGetUuid = [](DriverFunctions::Uuid* uuid, int device) -> uint32_t {
    uuid->bytes[15] = device == 10 ? 77 : 1;
    return 0;
  };
  const std::vector<ReadDevice> devices = FindDevices(Nvml(), driver);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].device, 1u);
}

TEST(NvmlDevices, AreNoneBeforeCudaHasBegunWhereThereAreSeveral) {
  DriverFunctions driver = Driver();
  driver.DeviceGetCount = [](int*) -> uint32_t { return 3; };
  EXPECT_TRUE(FindDevices(Nvml(), driver).empty());
  NvmlFunctions one = Nvml();
  one.DeviceGetCount = [](unsigned* count) -> uint32_t { return *count = 1, 0; };
  EXPECT_EQ(FindDevices(one, driver).size(), 1u);
}

TEST(NvmlDevices, HaveNvmlsNumbersWhereNobodyTellsUuids) {
  EXPECT_EQ(FindDevices(Nvml(), {}).size(), 3u);
  NvmlFunctions old = Nvml();
  old.DeviceGetHandleByUUID = nullptr;
  const std::vector<ReadDevice> devices = FindDevices(old, Driver());
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[2].device, 2u);
  EXPECT_EQ(devices[2].handle, &slots[2]);
}

}  // namespace
}  // namespace opscope::cuda

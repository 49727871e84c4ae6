// A libnvidia-ml.so.1 beside the simulated libcupti (OPSCOPE_NVML_LIB names it): power and clocks of the simulated
// devices. Device d draws 300 + 100 d W, and 1 W more at each question up to 99; its SM clock is 1980 MHz, and 15 less
// at every second question. Answers are NVML's codes, others by the scenario's `fail` and `hang`; a question before
// nvmlInit_v2 is a violation (`nvml_before_init`), as is one more nvmlShutdown than there were nvmlInit_v2.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fake_cuda.h"

namespace {

enum Result : std::uint32_t {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNotFound = 6,
  kDriverNotLoaded = 9,
};

constexpr unsigned kMaxDevices = 16;
struct Device {
  std::atomic<unsigned> power_questions{0};
  std::atomic<unsigned> clock_questions{0};
};
Device devices[kMaxDevices];
std::atomic<int> users{0};

std::uint32_t Begin(const char* function) {
  if (const std::uint32_t code = fake_cupti_called(function)) return code;
  if (users > 0) return kSuccess;
  fake_cupti_violation("nvml_before_init", function);
  return kUninitialized;
}

unsigned NumberOf(const void* device) {
  return static_cast<unsigned>(static_cast<const Device*>(device) - devices);
}

}  // namespace

extern "C" {

FAKE_CUPTI_API std::uint32_t nvmlInit_v2() {
  if (const std::uint32_t code = fake_cupti_called("nvmlInit_v2")) return code;
  if (fake_cuda_devices() == 0) return kDriverNotLoaded;
  ++users;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlShutdown() {
  if (const std::uint32_t code = Begin("nvmlShutdown")) return code;
  --users;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlDeviceGetCount_v2(unsigned* count) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetCount_v2")) return code;
  *count = fake_cuda_devices();
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetHandleByIndex_v2")) return code;
  if (index >= fake_cuda_devices() || index >= kMaxDevices) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetUUID")) return code;
  std::snprintf(uuid, size, "GPU-%02x000000-0000-0000-0000-000000000000", NumberOf(device) + 1);
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetHandleByUUID")) return code;
  unsigned first = 0;
  if (std::sscanf(uuid, "GPU-%2x", &first) != 1 || first == 0 || first > fake_cuda_devices()) return kNotFound;
  *device = &devices[first - 1];
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetPowerUsage")) return code;
  const unsigned number = NumberOf(device);
  *milliwatts = 300'000 + 100'000 * number + 1000 * (devices[number].power_questions++ % 100);
  return kSuccess;
}

// `type`: 1 is the SM clock.
FAKE_CUPTI_API std::uint32_t nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* megahertz) {
  if (const std::uint32_t code = Begin("nvmlDeviceGetClockInfo")) return code;
  if (type != 1) return kNotSupported;
  *megahertz = devices[NumberOf(device)].clock_questions++ % 2 == 0 ? 1980 : 1965;
  return kSuccess;
}

FAKE_CUPTI_API const char* nvmlErrorString(std::uint32_t code) {
  return code == kSuccess ? "Success" : "Simulated";
}

}  // extern "C"

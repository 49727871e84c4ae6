// A simulated libcuda.so.1 for the simulated libcupti, with only the functions that a profiler calls. Creating a
// context is a violation (`made_a_context`). Without a context cuCtxSynchronize returns 201; without a driver (scenario
// driver=none) cuInit returns 100.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fake_cuda.h"

namespace {

enum Result : std::uint32_t {
  kSuccess = 0,
  kInvalidValue = 1,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
};

std::atomic<bool> is_initialized{false};

// What every function begins with; kSuccess: go on.
std::uint32_t Begin(const char* function, int device = 0) {
  if (const std::uint32_t code = fake_cupti_called(function)) return code;
  if (!is_initialized) return kNotInitialized;
  if (device < 0 || static_cast<std::uint32_t>(device) >= fake_cuda_devices()) return kInvalidDevice;
  return kSuccess;
}

std::uint32_t Forbidden(const char* function) {
  fake_cupti_violation("made_a_context", function);
  return kInvalidValue;
}

// By CUDA's numbers of attributes; those of the simulated device.
int Attribute(int attribute) {
  switch (attribute) {
    case 1:
      return 1024;  // threads per block
    case 2:
    case 3:
      return 1024;  // block x, y
    case 4:
      return 64;  // block z
    case 5:
      return 2147483647;
    case 6:
    case 7:
      return 65535;  // grid y, z
    case 8:
      return 49152;  // shared memory per block
    case 10:
      return 32;  // threads per warp
    case 12:
      return 65536;  // registers per block
    case 13:
      return 1980000;  // kHz
    case 16:
      return 132;  // multiprocessors
    case 36:
      return 3201000;  // kHz of the memory
    case 37:
      return 6144;  // bits of its bus
    case 38:
      return 62914560;
    case 39:
      return 2048;  // threads per multiprocessor
    case 75:
      return 9;  // compute capability
    case 76:
      return 0;
    case 81:
      return 233472;  // shared memory per multiprocessor
    case 82:
      return 65536;  // registers per multiprocessor
    case 97:
      return 232448;  // shared memory per block, asked for
    case 106:
      return 32;  // blocks per multiprocessor
    case 111:
      return 1024;  // shared memory that the system keeps per block
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

FAKE_CUPTI_API std::uint32_t cuInit(unsigned) {
  if (const std::uint32_t code = fake_cupti_called("cuInit")) return code;
  if (fake_cuda_devices() == 0) return kNoDevice;
  is_initialized = true;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDriverGetVersion(int* version) {
  if (const std::uint32_t code = fake_cupti_called("cuDriverGetVersion")) return code;
  *version = static_cast<int>(fake_cuda_driver_version());
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceGetCount(int* count) {
  if (const std::uint32_t code = Begin("cuDeviceGetCount")) return code;
  *count = static_cast<int>(fake_cuda_devices());
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceGet(int* device, int ordinal) {
  if (const std::uint32_t code = Begin("cuDeviceGet", ordinal)) return code;
  *device = ordinal;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceGetName(char* name, int size, int device) {
  if (const std::uint32_t code = Begin("cuDeviceGetName", device)) return code;
  std::snprintf(name, static_cast<std::size_t>(size), "Simulated GPU");
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (const std::uint32_t code = Begin("cuDeviceGetAttribute", device)) return code;
  *value = Attribute(attribute);
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  if (const std::uint32_t code = Begin("cuDeviceTotalMem_v2", device)) return code;
  *bytes = std::size_t{141} << 30;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDeviceGetUuid_v2(char* uuid, int device) {
  if (const std::uint32_t code = Begin("cuDeviceGetUuid_v2", device)) return code;
  std::memset(uuid, 0, 16);
  uuid[0] = static_cast<char>(device + 1);
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuCtxGetCurrent(void** context) {
  static int the_context;
  if (const std::uint32_t code = Begin("cuCtxGetCurrent")) return code;
  *context = fake_cuda_has_context() != 0 ? &the_context : nullptr;
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuCtxGetDevice(int* device) {
  if (const std::uint32_t code = Begin("cuCtxGetDevice")) return code;
  if (fake_cuda_has_context() == 0) return kInvalidContext;
  *device = 0;
  return kSuccess;
}

// The program's own calls have initialised the driver where there is a context.
FAKE_CUPTI_API std::uint32_t cuCtxSynchronize() {
  if (const std::uint32_t code = fake_cupti_called("cuCtxSynchronize")) return code;
  if (!is_initialized && fake_cuda_has_context() == 0) return kNotInitialized;
  return fake_cuda_context_synchronize() == 0 ? kInvalidContext : kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (const std::uint32_t code = Begin("cuDevicePrimaryCtxGetState", device)) return code;
  *flags = 0;
  *active = static_cast<int>(fake_cuda_has_context());
  return kSuccess;
}

FAKE_CUPTI_API std::uint32_t cuCtxCreate_v2(void**, unsigned, int) {
  return Forbidden("cuCtxCreate_v2");
}
FAKE_CUPTI_API std::uint32_t cuDevicePrimaryCtxRetain(void**, int) {
  return Forbidden("cuDevicePrimaryCtxRetain");
}
FAKE_CUPTI_API std::uint32_t cuCtxSetCurrent(void*) {
  return Forbidden("cuCtxSetCurrent");
}
FAKE_CUPTI_API std::uint32_t cuCtxPushCurrent_v2(void*) {
  return Forbidden("cuCtxPushCurrent_v2");
}

}  // extern "C"

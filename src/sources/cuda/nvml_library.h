// Finds and loads libnvidia-ml at run time, and matches its devices to CUDA's.
//
//   OPSCOPE_NVML_LIB=FILE    only this file
//   else                     libnvidia-ml.so.1
//
// Any of its functions may hang: call them on a thread that no other thread waits for.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace opscope::cuda {

using NvmlDevice = void*;
inline constexpr uint32_t kNvmlSmClock = 1;

// Functions by NVML's names without "nvml" and version. They return 0 for success. Null: the library lacks the
// function.
struct NvmlFunctions {
  uint32_t (*Init)() = nullptr;
  uint32_t (*Shutdown)() = nullptr;
  uint32_t (*DeviceGetCount)(unsigned* count) = nullptr;
  uint32_t (*DeviceGetHandleByIndex)(unsigned index, NvmlDevice* device) = nullptr;
  uint32_t (*DeviceGetHandleByUUID)(const char* uuid, NvmlDevice* device) = nullptr;
  uint32_t (*DeviceGetPowerUsage)(NvmlDevice device, unsigned* milliwatts) = nullptr;
  uint32_t (*DeviceGetClockInfo)(NvmlDevice device, unsigned clock, unsigned* megahertz) = nullptr;

  // True if the library can find devices and read power or clock.
  bool is_usable() const;
};

// All members are null if the library cannot be loaded.
NvmlFunctions LoadNvml();

// Query functions of the libcuda that is already in the process; it is never loaded or initialised here.
struct DriverFunctions {
  struct Uuid {
    uint8_t bytes[16];
  };
  uint32_t (*DeviceGetCount)(int* count) = nullptr;
  uint32_t (*DeviceGet)(int* device, int ordinal) = nullptr;
  uint32_t (*DeviceGetUuid)(Uuid* uuid, int device) = nullptr;
};
DriverFunctions FindDriver();

struct ReadDevice {
  uint32_t device = 0;  // CUDA's number of the device
  NvmlDevice handle = nullptr;
};

// The devices that CUDA shows to this process. NVML counts all devices of the machine in the order of their bus; CUDA
// counts those in CUDA_VISIBLE_DEVICES, the fastest first. So they are matched by UUID, or by number if there is only
// one device or no UUID can be read. Empty: CUDA is not initialised, or NVML does not answer.
std::vector<ReadDevice> FindDevices(const NvmlFunctions& nvml, const DriverFunctions& driver);

}  // namespace opscope::cuda

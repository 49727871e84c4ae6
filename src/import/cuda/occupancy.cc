// The limits of each compute capability are those of NVIDIA's occupancy calculator. A block takes complete warps,
// registers are assigned to warps in units of 256, shared memory to blocks in units of 128 or 256 bytes; the smallest
// limit is the result. Example: 256 threads are 8 warps; with 40 registers a warp takes 1280, so 65536 registers hold
// 51 warps, in 4 partitions 48: 6 blocks.
// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/occupancy.h"

#include <algorithm>
#include <limits>

namespace opscope {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint32_t>::max();

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

uint64_t MostBlocks(const CudaDeviceDetails& device) {
  switch (device.compute_major) {
    case 3:
      return 16;
    case 7:
      return device.compute_minor == 5 ? 16 : 32;
    case 8:
      return device.compute_minor == 0 ? 32 : device.compute_minor == 9 ? 24 : 16;
    case 12:
      return 24;
    default:
      return 32;
  }
}

// The part of each block's shared memory that the driver reserves.
uint64_t ReservedShared(const CudaDeviceDetails& device) {
  return device.compute_major >= 8 ? 1024 : 0;
}

uint64_t LimitOfRegisters(const CudaDeviceDetails& device, const CudaKernelDetails& kernel, uint64_t warps) {
  constexpr uint64_t kUnit = 256, kMaxPerThread = 255;
  const uint64_t partitions = device.compute_major == 6 && device.compute_minor == 0 ? 2 : 4;  // of a multiprocessor
  if (kernel.registers == 0) return kNoLimit;
  if (kernel.registers > kMaxPerThread) return 0;
  const uint64_t per_warp = RoundUp(uint64_t{kernel.registers} * device.warp_size, kUnit);
  if (per_warp * RoundUp(warps, partitions) > device.registers_per_block) return 0;
  return device.registers_per_sm / partitions / per_warp * partitions / warps;
}

uint64_t LimitOfShared(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  const uint64_t unit = device.compute_major >= 8 ? 128 : 256;
  const uint64_t used = uint64_t{kernel.static_shared} + kernel.dynamic_shared;
  if (used > device.shared_per_block) return 0;  // the default limit; kernels that asked for more count as not fitting
  const uint64_t per_block = RoundUp(used + ReservedShared(device), unit);
  if (per_block == 0) return kNoLimit;
  return device.shared_per_sm / per_block;
}

}  // namespace

uint32_t ActiveBlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  const uint64_t threads = ThreadsPerBlock(kernel);
  if (threads == 0 || device.warp_size == 0 || device.threads_per_sm == 0) return 0;
  if (threads > device.threads_per_block) return 0;
  const uint64_t warps = (threads + device.warp_size - 1) / device.warp_size;
  const uint64_t by_warps = device.threads_per_sm / device.warp_size / warps;
  return static_cast<uint32_t>(
      std::min({by_warps, MostBlocks(device), LimitOfRegisters(device, kernel, warps), LimitOfShared(device, kernel)}));
}

float BlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  const float blocks = static_cast<float>(uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2]);
  return device.sms == 0 ? 0 : blocks / static_cast<float>(device.sms);
}

float WarpsPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  if (device.warp_size == 0) return 0;
  return BlocksPerSm(device, kernel) * static_cast<float>(ThreadsPerBlock(kernel)) /
         static_cast<float>(device.warp_size);
}

float Occupancy(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  if (device.threads_per_sm == 0) return 0;
  const float active = std::min(static_cast<float>(ActiveBlocksPerSm(device, kernel)), BlocksPerSm(device, kernel));
  return active * static_cast<float>(ThreadsPerBlock(kernel)) / static_cast<float>(device.threads_per_sm);
}

int OccupancyPercent(const CudaDeviceDetails& device, const CudaKernelDetails& kernel) {
  return static_cast<int>(0.5 + static_cast<double>(Occupancy(device, kernel)) * 100);
}

}  // namespace opscope

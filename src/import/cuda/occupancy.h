// How many blocks of a kernel a multiprocessor can hold at once, as NVIDIA's occupancy calculator computes it with its
// defaults: the least of what warps, blocks, registers and shared memory allow.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/cuda_event.h"

namespace opscope {

// 0: the kernel cannot run there, or the device is unknown.
uint32_t ActiveBlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

// The share of a multiprocessor's threads that are busy if the blocks are distributed evenly, 0 to 1.
float Occupancy(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);
// Kineto's "est. achieved occupancy %", rounded.
int OccupancyPercent(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

// Averages over the device if the blocks are distributed evenly. float as in Kineto, because the rounding is visible.
float BlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);
float WarpsPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

inline uint64_t ThreadsPerBlock(const CudaKernelDetails& kernel) {
  return uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
}

}  // namespace opscope

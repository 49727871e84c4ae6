// How many blocks of a kernel a multiprocessor can hold at once, as NVIDIA's occupancy calculator computes it with its
// defaults: the least of what warps, blocks, registers and shared memory allow.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/cuda_event.h"

namespace opscope {

// 0: it cannot run, or the device is not known.
uint32_t ActiveBlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

// The part of a multiprocessor's threads that such blocks, dealt out evenly, keep busy.
float Occupancy(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);
// Kineto's "est. achieved occupancy %", rounded.
int OccupancyPercent(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

// Of the whole device, as if blocks were dealt out evenly. In floats, as Kineto does it: rounding shows.
float BlocksPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);
float WarpsPerSm(const CudaDeviceDetails& device, const CudaKernelDetails& kernel);

inline uint64_t ThreadsPerBlock(const CudaKernelDetails& kernel) {
  return uint64_t{kernel.block[0]} * kernel.block[1] * kernel.block[2];
}

}  // namespace opscope

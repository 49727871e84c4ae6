// Names that CUPTI gives to its codes and to the calls of CUDA that the simulation makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sources/cuda/cupti_abi.h"

namespace fake {

namespace cupti = opscope::cuda::cupti;

enum RuntimeCall : std::uint32_t {
  kCudaGetLastError = 10,
  kCudaGetDevice = 17,
  kCudaMalloc = 20,
  kCudaFree = 22,
  kCudaMemcpy = 31,
  kCudaMemcpyAsync = 41,
  kCudaMemsetAsync = 51,
  kCudaStreamSynchronize = 131,
  kCudaEventCreate = 133,
  kCudaEventRecord = 135,
  kCudaEventSynchronize = 137,
  kCudaStreamWaitEvent = 147,
  kCudaMemcpyPeerAsync = 161,
  kCudaDeviceSynchronize = 165,
  kCudaStreamCreateWithPriority = 202,
  kCudaLaunchKernel = 211,
  kCudaGraphLaunch = 311,
  kCudaLaunchKernelExC = 430,
};
enum DriverCall : std::uint32_t {
  kCuCtxSynchronize = 17,
  kCuMemAlloc = 243,
  kCuMemFree = 245,
  kCuMemcpyHtoDAsync = 277,
  kCuLaunchKernel = 307,
  kCuGraphLaunch = 514,
  kCuLaunchKernelEx = 652,
};

// Null: the code or call has no name here.
const char* NameOfCall(cupti::CallbackDomain domain, std::uint32_t cbid);
const char* NameOfResult(cupti::Result result);

}  // namespace fake

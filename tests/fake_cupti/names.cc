// Names of the runtime and driver functions by their callback id, as cuptiGetCallbackName gives them: 211 is
// "cudaLaunchKernel_v7000". Only a part of CUPTI's list.
// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <algorithm>
#include <iterator>

namespace fake {
namespace {

struct Name {
  std::uint32_t number;
  const char* name;
};

template <std::size_t N>
const char* Find(const Name (&names)[N], std::uint32_t number) {
  const auto* found =
      std::find_if(std::begin(names), std::end(names), [&](const Name& name) { return name.number == number; });
  return found == std::end(names) ? nullptr : found->name;
}

constexpr Name kRuntime[] = {
    {4, "cudaGetDeviceProperties_v3020"},
    {10, "cudaGetLastError_v3020"},
    {16, "cudaSetDevice_v3020"},
    {17, "cudaGetDevice_v3020"},
    {20, "cudaMalloc_v3020"},
    {22, "cudaFree_v3020"},
    {31, "cudaMemcpy_v3020"},
    {41, "cudaMemcpyAsync_v3020"},
    {49, "cudaMemset_v3020"},
    {51, "cudaMemsetAsync_v3020"},
    {129, "cudaStreamCreate_v3020"},
    {131, "cudaStreamSynchronize_v3020"},
    {133, "cudaEventCreate_v3020"},
    {134, "cudaEventCreateWithFlags_v3020"},
    {135, "cudaEventRecord_v3020"},
    {137, "cudaEventSynchronize_v3020"},
    {138, "cudaEventQuery_v3020"},
    {147, "cudaStreamWaitEvent_v3020"},
    {161, "cudaMemcpyPeerAsync_v4000"},
    {165, "cudaDeviceSynchronize_v3020"},
    {198, "cudaStreamCreateWithFlags_v5000"},
    {202, "cudaStreamCreateWithPriority_v5050"},
    {211, "cudaLaunchKernel_v7000"},
    {251, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000"},
    {311, "cudaGraphLaunch_v10000"},
    {317, "cudaStreamIsCapturing_v10000"},
    {370, "cudaEventRecordWithFlags_v11010"},
    {373, "cudaMallocAsync_v11020"},
    {375, "cudaFreeAsync_v11020"},
    {430, "cudaLaunchKernelExC_v11060"},
};

constexpr Name kDriver[] = {
    {17, "cuCtxSynchronize"}, {19, "cuModuleLoadData"}, {126, "cuStreamSynchronize"},
    {243, "cuMemAlloc_v2"},   {245, "cuMemFree_v2"},    {277, "cuMemcpyHtoDAsync_v2"},
    {307, "cuLaunchKernel"},  {514, "cuGraphLaunch"},   {652, "cuLaunchKernelEx"},
};

constexpr Name kResults[] = {
    {0, "CUPTI_SUCCESS"},
    {1, "CUPTI_ERROR_INVALID_PARAMETER"},
    {2, "CUPTI_ERROR_INVALID_DEVICE"},
    {3, "CUPTI_ERROR_INVALID_CONTEXT"},
    {4, "CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID"},
    {5, "CUPTI_ERROR_INVALID_EVENT_ID"},
    {6, "CUPTI_ERROR_INVALID_EVENT_NAME"},
    {7, "CUPTI_ERROR_INVALID_OPERATION"},
    {8, "CUPTI_ERROR_OUT_OF_MEMORY"},
    {9, "CUPTI_ERROR_HARDWARE"},
    {10, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT"},
    {11, "CUPTI_ERROR_API_NOT_IMPLEMENTED"},
    {12, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
    {13, "CUPTI_ERROR_NOT_READY"},
    {14, "CUPTI_ERROR_NOT_COMPATIBLE"},
    {15, "CUPTI_ERROR_NOT_INITIALIZED"},
    {16, "CUPTI_ERROR_INVALID_METRIC_ID"},
    {17, "CUPTI_ERROR_INVALID_METRIC_NAME"},
    {18, "CUPTI_ERROR_QUEUE_EMPTY"},
    {19, "CUPTI_ERROR_INVALID_HANDLE"},
    {20, "CUPTI_ERROR_INVALID_STREAM"},
    {21, "CUPTI_ERROR_INVALID_KIND"},
    {22, "CUPTI_ERROR_INVALID_EVENT_VALUE"},
    {23, "CUPTI_ERROR_DISABLED"},
    {24, "CUPTI_ERROR_INVALID_MODULE"},
    {25, "CUPTI_ERROR_INVALID_METRIC_VALUE"},
    {26, "CUPTI_ERROR_HARDWARE_BUSY"},
    {27, "CUPTI_ERROR_NOT_SUPPORTED"},
    {28, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED"},
    {29, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE"},
    {30, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES"},
    {31, "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS"},
    {32, "CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED"},
    {33, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED"},
    {34, "CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE"},
    {35, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {36, "CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED"},
    {37, "CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE"},
    {38, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED"},
    {39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {40, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
    {41, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED"},
    {42, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED"},
    {43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
    {44, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED"},
    {45, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED"},
    {46, "CUPTI_ERROR_INVALID_CHIP_NAME"},
    {47, "CUPTI_ERROR_HES_TRACE_NOT_SUPPORTED_ON_MPS"},
    {999, "CUPTI_ERROR_UNKNOWN"},
};

}  // namespace

const char* NameOfCall(cupti::CallbackDomain domain, std::uint32_t cbid) {
  switch (domain) {
    case cupti::CallbackDomain::kRuntimeApi:
      return Find(kRuntime, cbid);
    case cupti::CallbackDomain::kDriverApi:
      return Find(kDriver, cbid);
    default:
      return nullptr;
  }
}

const char* NameOfResult(cupti::Result result) {
  return Find(kResults, static_cast<std::uint32_t>(result));
}

}  // namespace fake

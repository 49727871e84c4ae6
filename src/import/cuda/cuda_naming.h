// How one framework's profiler names the work of devices: categories and names of spans, the calls that it shows, and
// the members of "args". The default is Kineto's naming.
//
// Thread rule: constants and pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "import/cuda/cuda_members.h"
#include "import/cuda/cuda_names.h"

namespace opscope {

struct CudaNaming {
  // Categories.
  std::string_view runtime_call, driver_call, kernel, copy, set;
  // Name and category of a flow from a call to the work that it launched.
  std::string_view arrow, arrow_category;

  std::string (*KernelName)(std::string_view mangled);
  std::string (*CopyName)(const CudaCopyDetails& copy);
  std::string (*SetName)(const CudaSetDetails& set);
  std::string_view (*CallName)(std::string_view name);
  bool (*IsShownCall)(std::string_view name, bool is_driver);
  bool (*IsLaunch)(std::string_view name);  // starts a flow to the device

  // Members of "args".
  std::string (*KernelMembers)(const CudaKernelDetails& kernel, const CudaDeviceDetails& device);
  std::string (*CopyMembers)(const CudaCopyDetails& copy, bool is_between_devices);
  std::string (*SetMembers)(const CudaSetDetails& set);
  std::string (*CallMembers)(const CudaCallDetails& call);
};

inline constexpr CudaNaming kKinetoNaming = {.runtime_call = "cuda_runtime",
                                             .driver_call = "cuda_driver",
                                             .kernel = "kernel",
                                             .copy = "gpu_memcpy",
                                             .set = "gpu_memset",
                                             .arrow = "ac2g",
                                             .arrow_category = "ac2g",
                                             .KernelName = &KernelName,
                                             .CopyName = &CopyName,
                                             .SetName = &SetName,
                                             .CallName = &CallName,
                                             .IsShownCall = &IsShownCall,
                                             .IsLaunch = &IsLaunch,
                                             .KernelMembers = &KernelMembers,
                                             .CopyMembers = &CopyMembers,
                                             .SetMembers = &SetMembers,
                                             .CallMembers = &CallMembers};

}  // namespace opscope

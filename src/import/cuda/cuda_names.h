// What Kineto calls copies, sets, overheads, waits and calls, and which calls it shows.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/cuda_event.h"

namespace opscope {

std::string_view CopyKindName(uint32_t kind);    // by CUPTI's numbers: "HtoD"; "" of an unknown one
std::string_view MemoryKindName(uint32_t kind);  // "Pageable"

std::string CopyName(const CudaCopyDetails& copy);  // "Memcpy HtoD (Pageable -> Device)"
std::string SetName(const CudaSetDetails& set);     // "Memset (Device)"
std::string_view OverheadName(uint32_t kind);       // "Buffer Flush"

// Of a synchronisation; as CUPTI numbers them.
inline constexpr uint32_t kEventSync = 1, kStreamWaitsForEvent = 2;
std::string_view SynchronizationName(uint32_t type);  // "Event Sync"

// "cudaLaunchKernel" of "cudaLaunchKernel_v7000"; others as they are.
std::string_view CallName(std::string_view name);
bool IsShownCall(std::string_view name, bool is_driver);
// Whether arrows to the device leave it.
bool IsLaunch(std::string_view name);

// Readable, where it is a name as compilers mangle them; else as it is.
std::string DemangledName(std::string_view mangled);
std::string KernelName(std::string_view mangled);

}  // namespace opscope

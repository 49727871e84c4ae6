// Kineto's names of copies, sets, overheads, waits and calls, and the calls that it shows.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opscope/cuda_event.h"

namespace opscope {

std::string_view CopyKindName(uint32_t kind);    // of CUPTI's number: "HtoD"; "" if unknown
std::string_view MemoryKindName(uint32_t kind);  // "Pageable"

std::string CopyName(const CudaCopyDetails& copy);  // "Memcpy HtoD (Pageable -> Device)"
std::string SetName(const CudaSetDetails& set);     // "Memset (Device)"
std::string_view OverheadName(uint32_t kind);       // "Buffer Flush"

// CUPTI's numbers of two types of synchronisation.
inline constexpr uint32_t kEventSync = 1, kStreamWaitsForEvent = 2;
std::string_view SynchronizationName(uint32_t type);  // "Event Sync"

// "cudaLaunchKernel" for "cudaLaunchKernel_v7000"; other names are unchanged.
std::string_view CallName(std::string_view name);
bool IsShownCall(std::string_view name, bool is_driver);
// True for calls that start a flow to the device.
bool IsLaunch(std::string_view name);

// Demangles a name of a C++ compiler; other names are unchanged.
std::string DemangledName(std::string_view mangled);
std::string KernelName(std::string_view mangled);

}  // namespace opscope

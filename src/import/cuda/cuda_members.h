// The members of "args" that Kineto writes for spans of a device and calls of its runtime. "External id" and
// "correlation" are missing, because they are columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "opscope/cuda_event.h"
#include "opscope/types.h"

namespace opscope {

std::string KernelMembers(const CudaKernelDetails& kernel, const CudaDeviceDetails& device);
// Without the bandwidth, which differs from copy to copy.
std::string CopyMembers(const CudaCopyDetails& copy, bool is_between_devices);
std::string SetMembers(const CudaSetDetails& set);
// "" if the duration is 0.
std::string BandwidthMember(uint64_t bytes, Duration duration);

// The event record for which a wait waits; -1: unknown.
struct AwaitedEvent {
  int64_t stream = -1, correlation = -1;
};
std::string SynchronizationMembers(const CudaSynchronizationDetails& wait, uint32_t device,
                                   const AwaitedEvent& awaited);
std::string EventRecordMembers(const CudaEventRecordDetails& event, uint32_t device);
std::string GraphMembers(const CudaGraphDetails& graph);
std::string MemoryMembers(const CudaMemoryDetails& memory);
std::string CallMembers(const CudaCallDetails& call);

// One object of deviceProperties.
std::string DeviceProperties(const CudaDeviceDetails& device, std::string_view name);

}  // namespace opscope

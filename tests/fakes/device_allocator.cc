// The part of a device's caching allocator that a profiler sees, in a library of its own: it reports allocations while
// memory profiling is enabled. For tests on machines without a device.
// SPDX-License-Identifier: Apache-2.0
#include <c10/core/Allocator.h>

extern "C" __attribute__((visibility("default"))) bool ReportIfEnabled(void* block, int64_t bytes, size_t allocated,
                                                                       size_t reserved, int device) {
  if (!c10::memoryProfilingEnabled()) return false;
  c10::reportMemoryUsageToProfiler(block, bytes, allocated, reserved,
                                   c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)));
  return true;
}

extern "C" __attribute__((visibility("default"))) void ReportOutOfMemory(int64_t bytes, size_t allocated,
                                                                         size_t reserved, int device) {
  c10::reportOutOfMemoryToProfiler(bytes, allocated, reserved,
                                   c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(device)));
}

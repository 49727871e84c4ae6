// Allocations and frees of torch's tensors, seen where torch itself counts them: its allocators call a
// reporter, and the slots of those calls are re-pointed to functions of ours while a window wants them.
// This is independent of the state that torch.profiler keeps on its threads, so both work at once, and
// torch's own table of sizes stays as it was.
//
//   CPU       libc10: ProfiledCPUMemoryReporter::New and Delete
//   devices   whatever library calls memoryProfilingEnabled and reportMemoryUsageToProfiler of libc10 when the first
//             window begins: libc10_cuda, whose caching allocator tells its totals, its lock held; extensions
//
// A window sees the threads that its callback sees: those that torch has carried it to, or all.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/torch_source.h"

namespace opscope {

#if defined(OPSCOPE_WITHOUT_MEMORY)  // it does not fit this torch (python/opscope/adapters/parts.py)
inline const char* StartAllocations(uint32_t, uint32_t flags) {
  return (flags & torch_source_flags::kMemory) == 0
             ? nullptr
             : "the PyTorch source was compiled without its part that sees allocations";
}
inline void StopAllocations(uint32_t) {
}
#else
// A part of the source (TorchPart in torch_source.cc), for windows with kMemory. The error: this build of torch calls
// its reporter in a way that cannot be seen.
const char* StartAllocations(uint32_t instance, uint32_t flags);
void StopAllocations(uint32_t instance);
#endif

}  // namespace opscope

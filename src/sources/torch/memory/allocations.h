// Records allocations and frees of tensors where torch counts them: its allocators call a reporter, and the GOT entries
// of those calls are patched while a window records memory. This does not use the per-thread state that torch.profiler
// needs, so both can run at once. Torch's own table of sizes is unchanged.
//
//   CPU       libc10 calls ProfiledCPUMemoryReporter::New and Delete
//   devices   any library that calls memoryProfilingEnabled and reportMemoryUsageToProfiler of libc10 and is loaded
//             when the first window begins: libc10_cuda, whose caching allocator reports its totals with its lock held,
//             and extensions
//
// A window records the threads that its callback watches: those that torch carried the callback to, or all.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/torch_source.h"

namespace opscope {

#if defined(OPSCOPE_WITHOUT_MEMORY)  // this part does not fit this torch (python/opscope/adapters/parts.py)
inline const char* StartAllocations(uint32_t, uint32_t flags) {
  return (flags & torch_source_flags::kMemory) == 0
             ? nullptr
             : "the PyTorch source was compiled without its part that sees allocations";
}
inline void StopAllocations(uint32_t) {
}
#else
// A part of the source (TorchPart in torch_source.cc), for windows with kMemory. Fails if this build of torch does not
// call its reporter through GOT entries.
const char* StartAllocations(uint32_t instance, uint32_t flags);
void StopAllocations(uint32_t instance);
#endif

}  // namespace opscope

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

namespace opscope {

#if defined(OPSCOPE_WITHOUT_MEMORY)  // it does not fit this torch (python/opscope/adapters/parts.py)
inline bool StartAllocations(uint32_t, const char** error) {
  *error = "the PyTorch source was compiled without its part that sees allocations";
  return false;
}
inline void StopAllocations(uint32_t) {
}
#else
// From now on the window of this armed instance gets allocations. False with a static sentence: this build of
// torch calls its reporter in a way that cannot be seen.
bool StartAllocations(uint32_t instance, const char** error);
void StopAllocations(uint32_t instance);
#endif

}  // namespace opscope

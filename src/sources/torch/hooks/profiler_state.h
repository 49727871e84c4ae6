// Makes torch's Python layer treat a window as an active profiler. Only then does _RecordFunctionFast make ranges, and
// does a custom autograd function pass its sequence numbers on among the arguments.
//
// Both ask three functions of libtorch_cpu whether a profiler is active. The GOT entries through which libtorch_python
// calls them are patched, so the answers change for these callers alone: torch's own state is untouched, and torch's
// profiler starts, runs and stops as ever. With a torch that asks in another way these ranges are missing.
//
// Windows of all threads are excluded. Such a window could begin while another thread is inside a range; that range
// would end without having begun, and torch would throw in that thread's program.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

#if defined(OPSCOPE_WITHOUT_PROFILER_STATE)  // it does not fit this torch (python/opscope/adapters/parts.py)
inline const char* StartProfilerState(uint32_t, uint32_t) {
  return nullptr;
}
inline void StopProfilerState(uint32_t) {
}
#else
// A part of the source (TorchPart in torch_source.cc): between the two the window counts as a profiler of torch's.
const char* StartProfilerState(uint32_t instance, uint32_t flags);
void StopProfilerState(uint32_t instance);
#endif

}  // namespace opscope

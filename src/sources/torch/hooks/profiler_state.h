// Makes torch's Python layer treat a window as an active profiler. Only then does _RecordFunctionFast make ranges, and
// does a custom autograd function pass its sequence numbers on among the arguments.
//
// Both query three functions of libtorch_cpu for an active profiler. The GOT entries through which libtorch_python
// calls them are patched, so only these callers get another result: torch's own state is untouched, and torch's
// profiler starts, runs and stops as before. If a release of torch queries other functions, recordings lack these
// ranges.
//
// Windows with kAllThreads are excluded. Such a window could begin while another thread is inside a range; that range
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
// A part of the source (TorchPart in torch_source.cc): between start and stop the window counts as an active profiler.
const char* StartProfilerState(uint32_t instance, uint32_t flags);
void StopProfilerState(uint32_t instance);
#endif

}  // namespace opscope

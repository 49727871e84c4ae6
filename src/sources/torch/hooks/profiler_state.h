// What torch's Python layer does only while a profiler of torch's own is active, done for our windows too:
// _RecordFunctionFast makes its ranges, and a custom autograd function hands on its numbers among the arguments.
//
// Both ask three functions of libtorch_cpu. The slots through which libtorch_python calls them are re-pointed, so the
// answers change for these callers alone: torch's own state is not touched, and torch's profiler starts, runs and
// stops as ever. A build of torch that asks otherwise goes on without these ranges.
//
// A window of all threads is left out. A range that another thread is in when the window begins would then end
// without having begun, which torch answers with an exception in that thread's program.
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

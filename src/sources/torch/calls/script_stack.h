// TorchScript's call stack on this thread, and the modules whose methods are on it.
//
// Torch's query of the stack allocates, so a range queries it only if it may be inside the interpreter. The interpreter
// begins a range (TORCHSCRIPT_FUNCTION) for each function that it enters. Before the first such range of the process,
// only the first range of each thread and window queries the stack, because the thread may have been inside a script
// when the window opened.
//
// Thread rule: any thread; each function acts on the calling thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace opscope {

#if defined(OPSCOPE_WITHOUT_STACKS)  // it does not fit this torch (python/opscope/adapters/parts.py)
inline void MarkIfScript(at::RecordScope) {
}
inline bool MayBeInScript(at::RecordScope, uint64_t) {
  return false;
}
inline void AddScriptStack(uint32_t, uint64_t, std::string*) {
}
#else
extern std::atomic<bool> scripts_have_run;  // true from the first script that a window saw in this process
// The generation of the last window for which this thread queried its stack.
extern __thread uint64_t last_queried_window __attribute__((visibility("hidden")));

// Call this for every range that begins, recorded or not.
inline void MarkIfScript(at::RecordScope scope) {
  if (__builtin_expect(scope != at::RecordScope::TORCHSCRIPT_FUNCTION, 1)) return;
  if (!scripts_have_run.load(std::memory_order_relaxed)) scripts_have_run.store(true, std::memory_order_relaxed);
}

// False: the range does not begin inside the interpreter. A backward range runs on autograd's thread, which has no
// stack of the script.
inline bool MayBeInScript(at::RecordScope scope, uint64_t window) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return false;
  return last_queried_window != window || scripts_have_run.load(std::memory_order_relaxed);
}

// Prepends the stack (kStacks) and the modules (kModules) to the JSON members of a payload (payload_fields::kKeywords).
// No effect outside the interpreter. May throw what torch throws.
void AddScriptStack(uint32_t flags, uint64_t window, std::string* members);
#endif

}  // namespace opscope

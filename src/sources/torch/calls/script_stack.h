// Where TorchScript's interpreter stands on this thread: its call stack and the modules that it is in.
//
// A program without TorchScript is not asked range by range. The interpreter begins a range of its own for each
// function that it enters, which is seen; and a thread may be inside of one when a window sees its first range, which
// is asked.
//
// Thread rule: any thread, for itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace opscope {

#if defined(OPSCOPE_WITHOUT_STACKS)  // it does not fit this torch (python/opscope/adapters/parts.py)
inline void NoteIfScript(at::RecordScope) {
}
inline bool MayBeInScript(at::RecordScope, uint64_t) {
  return false;
}
inline void AddScriptPlace(uint32_t, uint64_t, std::string*) {
}
#else
extern std::atomic<bool> scripts_have_run;  // in this process, as far as windows have seen; never false again
// The last window (generation) for which the calling thread was asked.
extern __thread uint64_t window_of_last_question __attribute__((visibility("hidden")));

// For every range that begins, recorded or not.
inline void NoteIfScript(at::RecordScope scope) {
  if (__builtin_expect(scope != at::RecordScope::TORCHSCRIPT_FUNCTION, 1)) return;
  if (!scripts_have_run.load(std::memory_order_relaxed)) scripts_have_run.store(true, std::memory_order_relaxed);
}

// False: the range does not begin inside of the interpreter. What runs backward is not where the interpreter stands.
inline bool MayBeInScript(at::RecordScope scope, uint64_t window) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return false;
  return window_of_last_question != window || scripts_have_run.load(std::memory_order_relaxed);
}

// Puts before the JSON members of a payload what kStacks and kModules (torch_source_flags) ask for; nothing outside of
// the interpreter. See payload_fields::kKeywords. May throw.
void AddScriptPlace(uint32_t flags, uint64_t window, std::string* members);
#endif

}  // namespace opscope

// The capture mode of a window: whether torch's callbacks alone record its operators, or also the hooks
// (range_hooks.h), which cost half. The GOT entries of torch's libraries point to the hooks from the first window that
// uses them until the last one ends. The callbacks stay registered in both modes: torch's list of them says which
// threads are recorded, and torch carries it to other threads.
//
// Hooks are used only where a probe in a process of its own (hook_probe.h) has shown that they fit. The job itself only
// looks up the GOT entries and torch's callback version, at the first window (1.5 ms). OPSCOPE_TORCH_ROUTE=callbacks
// forbids the hooks.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>
#include <c10/core/DispatchKeySet.h>

#include <cstdint>
#include <optional>

#include "sources/torch/abi/torch_layout.h"

namespace opscope {

// The functions that make, begin and end a range.
struct RangeFunctions {
  void (*construct)(at::RecordFunction*, at::StepCallbacks*);
  void (*run)(at::RecordFunction&, torch_layout::Schema, c10::DispatchKey, c10::DispatchKeySet);
  void (*run_with)(at::RecordFunction&, torch_layout::Schema, c10::DispatchKey, c10::DispatchKeySet,
                   torch_layout::Inputs);
  void (*destroy)(at::RecordFunction*);
};

#if defined(OPSCOPE_WITHOUT_HOOKS)  // the hooks do not compile with this torch (python/opscope/adapters/parts.py)
inline constexpr const char* kNoHooks = "the adapter was compiled without hooks, which do not fit this torch";
inline const char* ProbeCaptureMode() {
  return kNoHooks;
}
inline void SetProbeResult(const char*) {
}
inline const char* StartHooks(uint32_t, uint32_t) {
  return nullptr;
}
inline void StopHooks(uint32_t) {
}
inline std::optional<RangeFunctions> HooksFor(uint32_t) {
  return std::nullopt;
}
inline const char* WhyCallbacks(uint32_t) {
  return kNoHooks;
}
#else
// Runs the probe. Null: the hooks fit, and this process may use them; else a static sentence.
const char* ProbeCaptureMode();
// Takes over the result of a probe in another process with this build of torch: "" for success, or its sentence.
// Without a result the callbacks record alone.
void SetProbeResult(const char* sentence);

// A part of the source (TorchPart in torch_source.cc). Where the hooks do not fit, the callbacks record alone, and
// WhyCallbacks says why.
const char* StartHooks(uint32_t instance, uint32_t flags);
void StopHooks(uint32_t instance);

// The hooks that would record a window with these flags; nothing: the callbacks would. REQUIRES of the caller of the
// hooks: our callback is the thread's only one.
std::optional<RangeFunctions> HooksFor(uint32_t flags);

// Of the instance's last window. Null: the hooks recorded it; else why the callbacks did.
const char* WhyCallbacks(uint32_t instance);
#endif

}  // namespace opscope

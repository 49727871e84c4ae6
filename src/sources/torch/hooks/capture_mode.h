// The capture mode of a window: whether torch's callbacks alone record its operators, or also the hooks
// (range_hooks.h), which cost half. The GOT entries of torch's libraries point to the hooks from the first window that
// uses them until the last one ends. The callbacks stay registered in both modes: torch's list of them determines which
// threads are recorded, and torch propagates it to other threads.
//
// Hooks are used only if a probe in a separate process (hook_probe.h) has shown that they fit. The profiled process
// only looks up the GOT entries and torch's callback version, at the first window (1.5 ms).
// OPSCOPE_TORCH_ROUTE=callbacks forbids the hooks.
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
// Sets the result of a probe that ran in another process with this build of torch: "" for success, or its sentence.
// Without a result the callbacks record alone.
void SetProbeResult(const char* sentence);

// A part of the source (TorchPart in torch_source.cc). If the hooks do not fit, the callbacks record alone, and
// WhyCallbacks returns the reason. StartHooks returns null in both cases.
const char* StartHooks(uint32_t instance, uint32_t flags);
void StopHooks(uint32_t instance);

// The hooks that would record a window with these flags; nullopt: the callbacks would record it. Call the hooks only
// while our callback is the thread's only one.
std::optional<RangeFunctions> HooksFor(uint32_t flags);

// Why the callbacks recorded the instance's last window; null: the hooks recorded it.
const char* WhyCallbacks(uint32_t instance);
#endif

}  // namespace opscope

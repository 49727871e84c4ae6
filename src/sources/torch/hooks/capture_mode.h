// Which way operators take to their records: torch's callbacks alone, or also the drop-in functions (range_hooks.h), to
// which the slots of torch's libraries point from when the first window opens until the last one ends. The callbacks
// stay registered either way: torch's list of them says which thread is watched, and torch carries it to other threads.
//
// Only where a trial in a process of its own has shown that they fit; in the job no more than the slots and torch's
// count of changes are looked for, at the first window (1.5 ms). OPSCOPE_TORCH_ROUTE=callbacks forbids them.
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

// What makes, begins and ends a range.
struct RangeFunctions {
  void (*construct)(at::RecordFunction*, at::StepCallbacks*);
  void (*run)(at::RecordFunction&, torch_layout::Schema, c10::DispatchKey, c10::DispatchKeySet);
  void (*run_with)(at::RecordFunction&, torch_layout::Schema, c10::DispatchKey, c10::DispatchKeySet,
                   torch_layout::Inputs);
  void (*destroy)(at::RecordFunction*);
};

#if defined(OPSCOPE_WITHOUT_DROP_INS)  // they do not fit this torch (python/opscope/adapters/parts.py)
inline constexpr const char* kNoDropIns =
    "the adapter was compiled without drop-in functions, which do not fit this torch";
inline const char* TryRoute() {
  return kNoDropIns;
}
inline void TakeRouteVerdict(const char*) {
}
inline const char* StartHooks(uint32_t, uint32_t) {
  return nullptr;
}
inline void StopHooks(uint32_t) {
}
inline std::optional<RangeFunctions> DropInsFor(uint32_t) {
  return std::nullopt;
}
inline const char* WhyCallbacks(uint32_t) {
  return kNoDropIns;
}
#else
// The trial. Null: the drop-in functions fit, and this process may use them; else a static sentence.
const char* TryRoute();
// What a trial with this build of torch has shown, "" or its sentence. Without one the way are the callbacks.
void TakeRouteVerdict(const char* sentence);

// A part of the source (TorchPart in torch_source.cc). Where the hooks do not fit, the callbacks record alone, and
// WhyCallbacks says why.
const char* StartHooks(uint32_t instance, uint32_t flags);
void StopHooks(uint32_t instance);

// What a window with these flags would be recorded by, if by drop-in functions; the only callback must be ours.
std::optional<RangeFunctions> DropInsFor(uint32_t flags);

// Null: by drop-in functions; else why not. Of the instance's last window.
const char* WhyCallbacks(uint32_t instance);
#endif

}  // namespace opscope

// The PyTorch source: a small library per torch version
// (libopscope_torch_MAJOR_MINOR), loaded at run time because its code depends on
// the layouts of that torch. Beside `opscope_source` (source.h) it exports
// `opscope_torch_source`, which returns this table.
//
// Thread rule: any thread, with or without Python's GIL, which it never takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/record.h"
#include "opscope/source.h"
#include "opscope/window_facts.h"

namespace opscope {

// Version of TorchSource.
inline constexpr uint32_t kTorchSourceAbi = 7;

// A tensor that a Python object references.
struct ReferencedTensorImpl {
  // Its TensorImpl (`Tensor._cdata`), alive during the call.
  const void* tensor = nullptr;
  TensorRole role = TensorRole::kParameter;
  // Name in its module, or of the optimizer state; valid during the call. Null:
  // none.
  const char* name = nullptr;
};

namespace torch_source_flags {
// record_shapes: shapes, strides, dtypes, concrete values.
inline constexpr uint32_t kInputs = 1;
// profile_all_threads: a global callback, for every thread.
inline constexpr uint32_t kAllThreads = 2;
// Overload names of operators.
inline constexpr uint32_t kOverloadNames = 4;
// profile_memory: allocations and frees of tensors.
inline constexpr uint32_t kMemory = 8;
// For the memory timeline: the tensors that objects reference and, with kInputs,
// the identity of each tensor argument. Keeps the TensorImpls of some thousand dead
// tensors (some megabytes), never their data.
inline constexpr uint32_t kTensors = 16;
// with_stack: the stacks of TorchScript; Python's calls have their own source.
inline constexpr uint32_t kStacks = 32;
// with_modules: the modules of TorchScript.
inline constexpr uint32_t kModules = 64;
}  // namespace torch_source_flags

// The interface that PyTorch's front end needs beyond Source.
struct TorchSource {
  // "torch"; its flags are torch_source_flags. start fails if all callback
  // instances are taken, or if kMemory cannot hook the allocators of this torch.
  Source source;
  uint32_t abi = kTorchSourceAbi;
  // Version that the library was built against.
  const char* torch_version = nullptr;

  // True if torch traces the calling thread's operators into a graph
  // (torch.jit.trace, make_fx) or a dispatch mode sees them. A user range must then
  // be an operator of torch itself, not from `enter`.
  bool (*is_traced)() = nullptr;
  // Begins a user range (RecordScope::USER_SCOPE), visible to every observer that
  // torch has at that moment. Null if there is none. `args`: torch's one string
  // input, or null.
  void* (*enter)(const char* name, size_t name_size, const char* args, size_t args_size) = nullptr;
  // The same, but asynchronous: it takes no part in the nesting of its thread.
  void* (*enter_async)(const char* name, size_t name_size, const char* args, size_t args_size) = nullptr;
  // Ends it, on any thread. REQUIRES: range is from enter or enter_async and was
  // not ended.
  void (*exit)(void* range) = nullptr;
  // Marks the range as asynchronous for observers that ask at its end. The
  // recording goes by begin and end.
  void (*set_async)(void* range) = nullptr;

  // Records that the Python object at address `owner` (a module, an optimizer)
  // references these tensors now, in every window with kTensors that sees the
  // calling thread. Import identifies an object by its address; its first record
  // counts.
  void (*hold)(uint64_t owner, const ReferencedTensorImpl* tensors, size_t count) = nullptr;

  // Tests whether this library can replace torch's own range functions, which
  // halves the cost of a recorded operator (docs/explanation/torch_recording.md). Null: it can, and this
  // process will; else a static sentence. May crash if the layouts of torch differ:
  // call it in a process of its own.
  const char* (*probe_capture_mode)() = nullptr;
  // Reports the result of probe_capture_mode for this library and this torch, "" for null.
  // Without it only the callbacks record.
  void (*set_probe_result)(const char* sentence) = nullptr;

  // True if torch's own profiler has run in this process and is over: it keeps
  // CUPTI (cuda_source.h).
  bool (*kineto_is_idle)() = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::TorchSource* opscope_torch_source();

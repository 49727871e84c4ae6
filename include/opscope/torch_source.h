// The PyTorch source: a small library per torch version (libopscope_torch_MAJOR_MINOR) that is loaded
// at run time, because its code depends on the layouts of that torch. Beside `opscope_source` (source.h) it exports
// `opscope_torch_source`, which returns this table.
//
// Thread rule: as noted; all functions may be called with or without Python's GIL and never take it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "opscope/record.h"
#include "opscope/source.h"
#include "opscope/window_facts.h"

namespace opscope {

inline constexpr uint32_t kTorchSourceAbi = 7;

// A tensor that a Python object holds. `tensor`: its TensorImpl (what `Tensor._cdata` gives), alive during the call.
struct HeldTensorImpl {
  const void* tensor = nullptr;
  TensorRole role = TensorRole::kParameter;
  const char* name = nullptr;  // in its module, or of a state; valid during the call, null: none
};

namespace torch_source_flags {
inline constexpr uint32_t kInputs = 1;      // shapes, strides, dtypes, concrete values (record_shapes)
inline constexpr uint32_t kAllThreads = 2;  // global callback: every thread (profile_all_threads)
inline constexpr uint32_t kOverloadNames = 4;
inline constexpr uint32_t kMemory = 8;  // allocations and frees of tensors (profile_memory)
// What objects hold and, with kInputs, which tensor each argument is (the memory timeline). Torch keeps the bodies of
// some thousand dead tensors meanwhile, some megabytes, never their data.
inline constexpr uint32_t kTensors = 16;
inline constexpr uint32_t kStacks = 32;   // where TorchScript stands (with_stack); Python's calls have their own source
inline constexpr uint32_t kModules = 64;  // the modules that TorchScript is in (with_modules)
}  // namespace torch_source_flags

// What PyTorch's skin asks of its source beyond a Source.
struct TorchSource {
  Source source;  // "torch"; its flags are torch_source_flags. start fails when all callback instances are taken, or
                  // this torch does not let kMemory see its allocators.
  uint32_t abi = kTorchSourceAbi;
  const char* torch_version = nullptr;  // that the library was built against

  // Whether torch makes a graph of the calling thread's operators (torch.jit.trace, make_fx) or shows them to a
  // dispatch mode: then a user range has to be an operator, too, torch's own, and not come from `enter`.
  bool (*is_traced)() = nullptr;
  // A user range (RecordScope::USER_SCOPE), seen by every observer that torch has at that moment, not
  // only by us. Null when nothing observes. `args`: torch's one string input, or null.
  void* (*enter)(const char* name, size_t name_size, const char* args, size_t args_size) = nullptr;
  // Likewise, but asynchronous from its begin: it is no part of the nesting, whatever runs on its thread until it ends.
  void* (*enter_async)(const char* name, size_t name_size, const char* args, size_t args_size) = nullptr;
  // Ends it, on any thread. REQUIRES: range is from enter or enter_async and was not ended.
  void (*exit)(void* range) = nullptr;
  // Tells observers that ask at its end that the range is asynchronous; what is recorded goes by its begin and end.
  void (*set_async)(void* range) = nullptr;

  // Records that the Python object at this address (a module, an optimizer) holds these tensors now, into every window
  // with kTensors that sees the calling thread. Import knows an object by its address: its first record counts.
  void (*hold)(uint64_t owner, const HeldTensorImpl* tensors, size_t count) = nullptr;

  // Whether torch's own range functions may be stood in for, which halves what an operator costs while it is recorded
  // (docs/torch.md). Null: yes, and this process will; else a static sentence. For a process of its own that nobody
  // watches: it may crash where the layouts of torch are others.
  const char* (*try_route)() = nullptr;
  // What try_route has said of this library and this torch, "" for null. Without it there are the callbacks alone.
  void (*take_route_verdict)(const char* sentence) = nullptr;

  // Whether torch's own profiler has been used in this process and is over: it keeps CUPTI (cuda_source.h).
  bool (*kineto_is_idle)() = nullptr;
};

}  // namespace opscope

extern "C" __attribute__((visibility("default"))) const opscope::TorchSource* opscope_torch_source();

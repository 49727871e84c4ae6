// The kind of a span: what it is, whichever framework recorded it and whatever its
// file calls it. docs/reference/span_kinds.md lists which categories of which format become
// which kind.
//
//   if (trace.spans().kind[row] == opscope::SpanKind::kKernel) ...
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace opscope {

// The numbers stand in files: new kinds come at the end.
enum class SpanKind : uint8_t {
  kOther = 0,
  kOperator = 1,  // of a framework, an operator of its autograd included
  kKernel = 2,    // on a device, those of communication libraries included
  kCopy = 3,
  kSet = 4,
  kCommunication = 5,    // on a thread: a call of a communication library
  kSynchronization = 6,  // waiting for a device
  kRuntimeCall = 7,      // of a device's runtime, on a thread
  kDriverCall = 8,
  kUserRange = 9,  // that the program itself named
  kStep = 10,
  kModule = 11,  // a call of a model's module
  kPythonFunction = 12,
  kCFunction = 13,  // called by Python
  kDataLoading = 14,
  kOptimizer = 15,
  kBackward = 16,  // the whole backward or forward pass, where the framework marks it
  kForward = 17,
  kDeviceAnnotation = 18,  // a user range, as long as the device works for it
  kOverhead = 19,          // of a profiler
};
// Number of kinds.
inline constexpr size_t kSpanKinds = 20;

// "operator", "kernel", ...: the words of `--where "kind = kernel"` and `--group-by
// kind`.
[[nodiscard]] std::string_view SpanKindName(SpanKind kind);
// nullopt: no kind has this name.
[[nodiscard]] std::optional<SpanKind> SpanKindFromName(std::string_view name);

// Kind of a call by its name in the spelling of a tracer of Python: kModule,
// kPythonFunction, kCFunction, or kOther for a run of the garbage collector.
//
//                 Kineto, opscope            XLA                     VizTracer
//   module        nn.Module: Linear_0
//   function      train.py(12): step         $train.py:12 step       step (/home/me/train.py:12)
//   C function    <built-in function len>    $builtins len           builtins.len
//   other         Python GC
[[nodiscard]] SpanKind KindOfPythonCall(std::string_view name);
// "Linear_0" of "nn.Module: Linear_0"; any other name unchanged.
[[nodiscard]] std::string_view ModuleOfCall(std::string_view name);

// True for categories of calls of a device's runtime or driver in Kineto's Chrome
// traces: "cuda_runtime", "hip_driver", ...
inline bool IsRuntimeCategory(std::string_view category) {
  return category.ends_with("_runtime") || category.ends_with("_driver") || category == "Runtime";  // before 2022
}

}  // namespace opscope

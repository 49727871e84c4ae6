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
  // None of the others.
  kOther = 0,
  // An operator of a framework ("aten::add"), those of its autograd included.
  kOperator = 1,
  // A kernel on a device, those of communication libraries included.
  kKernel = 2,
  // On a device: a copy, and a set of memory to one value.
  kCopy = 3,
  kSet = 4,
  // On a thread: a call of a communication library.
  kCommunication = 5,
  // On a thread: waiting for a device.
  kSynchronization = 6,
  // On a thread: a call of a device's runtime ("cudaLaunchKernel"), or of its driver.
  kRuntimeCall = 7,
  kDriverCall = 8,
  // A range that the program itself named.
  kUserRange = 9,
  // One step of the training or inference loop.
  kStep = 10,
  // A call of a model's module (nn.Module).
  kModule = 11,
  // A call of a Python function.
  kPythonFunction = 12,
  // A call of a C function by Python.
  kCFunction = 13,
  // Waiting for the next batch of a data loader.
  kDataLoading = 14,
  // A step of an optimizer.
  kOptimizer = 15,
  // The whole backward or forward pass, if the framework marks it.
  kBackward = 16,
  kForward = 17,
  // A user range on a device's row: as long as the device works for it.
  kDeviceAnnotation = 18,
  // Time that a profiler itself took.
  kOverhead = 19,
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

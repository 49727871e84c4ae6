// Paddle's event types (TracerEventType), with their numbers and names. A span that
// Paddle recorded has the name of its type as its category; records of the Paddle
// source have the number in Record::scope.
//
//   PaddleEventTypeName(PaddleEventType::kKernel)           // "Kernel"
//   IsPythonThreadEvent(PaddleEventType::kForward)          // true
//
// paddle/event_type.h finds the type of a span of any Trace.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace opscope {

// Paddle's numbers. Builds before 2.5 do not have the last two.
enum class PaddleEventType : uint8_t {
  // An operator of the framework.
  kOperator = 0,
  // Waiting for the data loader: a batch of paddle.io.DataLoader.
  kDataloader = 1,
  // One step of the program, between two calls of Profiler.step().
  kProfileStep = 2,
  // A call of the CUDA runtime.
  kCudaRuntime = 3,
  // Device spans: kernels, copies and sets of memory.
  kKernel = 4,
  kMemcpy = 5,
  kMemset = 6,
  // A range that the program or Paddle's C++ code named.
  kUserDefined = 7,
  // A part of an operator, such as inferring the sizes of its outputs.
  kOperatorInner = 8,
  // Phases of a model: its forward pass, its backward pass, and the optimizer.
  kForward = 9,
  kBackward = 10,
  kOptimization = 11,
  // Communication between ranks.
  kCommunication = 12,
  // An operator written in Python.
  kPythonOp = 13,
  // A range that the program's Python code named.
  kPythonUserDefined = 14,
  // The launch of an operator's kernel, in dynamic and in static graphs.
  kDygraphKernelLaunch = 15,
  kStaticKernelLaunch = 16,
};

// Names by number: the categories of spans that Paddle recorded.
inline constexpr std::string_view kPaddleEventTypeNames[] = {"Operator",
                                                             "Dataloader",
                                                             "ProfileStep",
                                                             "CudaRuntime",
                                                             "Kernel",
                                                             "Memcpy",
                                                             "Memset",
                                                             "UserDefined",
                                                             "OperatorInner",
                                                             "Forward",
                                                             "Backward",
                                                             "Optimization",
                                                             "Communication",
                                                             "PythonOp",
                                                             "PythonUserDefined",
                                                             "DygraphKernelLaunch",
                                                             "StaticKernelLaunch"};
// Number of types.
inline constexpr size_t kPaddleEventTypes = std::size(kPaddleEventTypeNames);

// "Operator", ... REQUIRES: a type of the enumeration.
constexpr std::string_view PaddleEventTypeName(PaddleEventType type) {
  return kPaddleEventTypeNames[static_cast<size_t>(type)];
}

// True for types whose events Paddle shows on the row of their thread's Python
// code; false for the row of its C++ code.
constexpr bool IsPythonThreadEvent(PaddleEventType type) {
  switch (type) {
    // These are opened by Paddle's Python code.
    case PaddleEventType::kDataloader:
    case PaddleEventType::kProfileStep:
    case PaddleEventType::kForward:
    case PaddleEventType::kBackward:
    case PaddleEventType::kOptimization:
    case PaddleEventType::kPythonOp:
    case PaddleEventType::kPythonUserDefined:
      return true;
    default:
      return false;
  }
}

}  // namespace opscope

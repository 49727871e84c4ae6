// Paddle's event types (TracerEventType), with their numbers and names. A span that
// Paddle recorded has the name of its type as its category; records of the Paddle
// source have the number in Record::scope.
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
  kOperator = 0,
  kDataloader = 1,
  kProfileStep = 2,
  kCudaRuntime = 3,
  kKernel = 4,
  kMemcpy = 5,
  kMemset = 6,
  kUserDefined = 7,
  kOperatorInner = 8,
  kForward = 9,
  kBackward = 10,
  kOptimization = 11,
  kCommunication = 12,
  kPythonOp = 13,
  kPythonUserDefined = 14,
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
constexpr bool IsOfPaddlesPython(PaddleEventType type) {
  switch (type) {
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

// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/type_names.h"

#include <iterator>

namespace opscope {
namespace {

constexpr std::string_view kTypeNames[] = {"Operator",
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
constexpr std::string_view kMemoryTypeNames[] = {"Allocate", "Free", "ReservedAllocate", "ReservedFree"};

}  // namespace

std::string_view PaddleTypeName(uint64_t type) {
  return type < std::size(kTypeNames) ? kTypeNames[type] : std::string_view();
}

bool IsPaddlePythonType(uint64_t type) {
  const std::string_view name = PaddleTypeName(type);
  return name == "ProfileStep" || name == "Forward" || name == "Backward" || name == "Dataloader" ||
         name == "Optimization" || name == "PythonOp" || name == "PythonUserDefined";
}

std::string_view PaddleMemoryTypeName(uint64_t type) {
  return type < std::size(kMemoryTypeNames) ? kMemoryTypeNames[type] : std::string_view();
}

}  // namespace opscope

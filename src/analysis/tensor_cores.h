// Which kernels use NVIDIA's tensor cores, and which operators could: told by names, for nothing else in a trace says
// it. A kernel whose name does not say it (most of Triton's, AMD's matrix cores) counts as one that does not.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

// kernel: its name, readable or as the compiler mangled it. O(its length).
[[nodiscard]] bool UsesTensorCores(std::string_view kernel);
// name: of an operator of torch. O(1).
[[nodiscard]] bool CanUseTensorCores(std::string_view name);

}  // namespace opscope

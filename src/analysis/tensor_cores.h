// Decides by name which kernels use NVIDIA's tensor cores and which operators could; a trace has no other sign of it.
// Kernels whose names give no hint (most of Triton's, AMD's matrix cores) count as not using them.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace opscope {

// kernel: the name, demangled or mangled. O(length).
[[nodiscard]] bool UsesTensorCores(std::string_view kernel);
// name: the name of a torch operator. O(log n) in the table's size.
[[nodiscard]] bool CanUseTensorCores(std::string_view name);

}  // namespace opscope

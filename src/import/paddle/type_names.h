// The types of Paddle's events, by the numbers of phi::TracerEventType and phi::TracerMemEventType.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

// "Operator", "Kernel", ...; "" for a type of a newer version.
[[nodiscard]] std::string_view PaddleTypeName(uint64_t type);
[[nodiscard]] bool IsPaddlePythonType(uint64_t type);  // shown on the row of the thread's Python
[[nodiscard]] std::string_view PaddleMemoryTypeName(uint64_t type);

}  // namespace opscope

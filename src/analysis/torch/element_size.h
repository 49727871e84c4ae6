// Bytes per tensor element, by the type name that torch records.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

// 0 for an unknown type.
[[nodiscard]] int64_t ElementSize(std::string_view dtype);

}  // namespace opscope

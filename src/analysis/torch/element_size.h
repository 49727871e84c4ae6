// Bytes of one element of a tensor, by the name that torch gives its type.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

// 0: a type that is not known.
[[nodiscard]] int64_t ElementSize(std::string_view dtype);

}  // namespace opscope

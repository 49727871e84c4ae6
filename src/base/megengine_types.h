// MegEngine's element types by their names.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace opscope {

inline constexpr uint32_t kMostMegEngineDimensions = 7;  // of a tensor

// Of "Float32" 32, of "Quantized4Asymm" 4; 0: not a type that is known.
[[nodiscard]] uint32_t MegEngineElementBits(std::string_view type);

}  // namespace opscope

// The element types of MegEngine's tensors, by the names that its traces give them ("Float32", "Quantized4Asymm").
//
//   bytes = (elements * MegEngineElementBits("IntB4") + 7) / 8
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace opscope {

// A tensor of MegEngine has at most so many dimensions (TensorShape::MAX_NDIM).
inline constexpr uint32_t kMaxMegEngineDimensions = 7;

// Bits of one element: 32 of "Float32", 4 of "Quantized4Asymm". Types of fewer than 8 bits are packed, so the bytes of
// a tensor need the rounding above. 0: a type that is not known, such as one of a newer MegEngine. O(types).
[[nodiscard]] constexpr uint32_t MegEngineElementBits(std::string_view type) {
  constexpr std::pair<std::string_view, uint32_t> kTypes[] = {
      {"Float32", 32},      {"Int32", 32},       {"Int16", 16},          {"Int8", 8},        {"Uint8", 8},
      {"Bool", 8},          {"Uint16", 16},      {"Float16", 16},        {"BFloat16", 16},   {"Byte", 8},
      {"Complex64", 64},    {"IntB1", 1},        {"IntB2", 2},           {"IntB4", 4},       {"UintB4", 4},
      {"QuantizedS1", 1},   {"QuantizedS4", 4},  {"Quantized4Asymm", 4}, {"QuantizedS8", 8}, {"Quantized8Asymm", 8},
      {"QuantizedS16", 16}, {"QuantizedS32", 32}};
  for (const auto& [name, bits] : kTypes) {
    if (name == type) return bits;
  }
  return 0;
}

}  // namespace opscope

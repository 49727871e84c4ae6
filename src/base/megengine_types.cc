// The bits per element of MegEngine's types, by the names that its files have. Its own table is in a header
// that files do not come with.
// SPDX-License-Identifier: Apache-2.0
#include "base/megengine_types.h"

#include <utility>

namespace opscope {

uint32_t MegEngineElementBits(std::string_view type) {
  static constexpr std::pair<std::string_view, uint32_t> kTypes[] = {
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

// Names and values as torch prints them in traces.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// The C++ type name of an at::ScalarType number ("float", "long int", "c10::Half"); "" for unknown numbers.
[[nodiscard]] std::string_view TorchTypeName(uint32_t scalar_type);

// As torch prints a double of an IValue: whole numbers of the int64 range as "3.", anything else with 17 digits.
void AppendTorchDouble(std::string* out, double value);
// "1.+2.j"
void AppendTorchComplex(std::string* out, double real, double imaginary);

}  // namespace opscope

// Names and values as torch prints them in traces.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opscope {

// The C++ type name of an at::ScalarType number ("float", "long int", "c10::Half"); "" if unknown.
[[nodiscard]] std::string_view TorchTypeName(uint32_t scalar_type);

// Prints a double like torch's IValue: whole numbers in the range of int64 as "3.", others with 17 digits.
void AppendTorchDouble(std::string* out, double value);
// "1.+2.j"
void AppendTorchComplex(std::string* out, double real, double imaginary);

}  // namespace opscope

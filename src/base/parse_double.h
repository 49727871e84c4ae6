// Parses a text that is a decimal number and nothing else, whatever the locale of the program is.
//
//   ParseDouble("-1.5e3")   -1500
//   ParseDouble("1.5e400")  infinity, as strtod gives it; "1.5e-400" is 0
//   ParseDouble("1.5 ")     nullopt, as of "", "+1" and "1,5"
//
// Thread rule: a pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace opscope {

// Takes what std::from_chars takes, "inf" and "nan" too.
[[nodiscard]] std::optional<double> ParseDouble(std::string_view text);

}  // namespace opscope

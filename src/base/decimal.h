// Decimal numbers of a text as the whole numbers that columns hold, exact: "1661938466265032.417" microseconds has more
// digits than a double holds, and "0.3us" is no multiple of what a double makes of it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace opscope {

// A number without its sign: `whole`, and what stands behind the decimal point.
struct ScaledDecimal {
  bool is_negative = false;
  uint64_t whole = 0;
  int first_decimal = 0;      // the first digit behind the point: from 5 on, the next whole number is as near or nearer
  bool has_decimals = false;  // a digit behind the point is not 0
};

// [-]digits[.digits][e[+-]digits] times 10^power. nullopt: no such number, or `whole` would be more than `most`.
// REQUIRES: most < 2^63.
[[nodiscard]] std::optional<ScaledDecimal> ParseScaledDecimal(std::string_view text, int power, uint64_t most);

}  // namespace opscope

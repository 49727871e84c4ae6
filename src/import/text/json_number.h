// Converts numbers of a trace file to column values: exactly, from the decimal text, because "1661938466265032.417"
// microseconds has more digits than a double holds.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "import/text/json_scan.h"

namespace opscope {

// Larger times are rejected, so that a start plus a duration cannot overflow.
inline constexpr int64_t kLatestNs = 4'000'000'000'000'000'000;

// Microseconds, as a number or as text, to nanoseconds, rounded to the nearest. nullopt: not a number, NaN, or beyond
// kLatestNs.
std::optional<int64_t> ParseMicroseconds(const JsonValue& value);

// A whole number written as a JSON number without decimals or exponent ("12", "-3"). nullopt: anything else.
std::optional<int64_t> ParseInteger(std::string_view text);
std::optional<uint64_t> ParseUnsigned(std::string_view text);

// A whole number in any spelling of JSON ("12", "12.0", "1.2e1"). nullopt: not a number, one with decimals, or one of
// more than 64 bits.
std::optional<int64_t> ParseWholeNumber(const JsonValue& value);

// A finite number, as a number or as text.
std::optional<double> ParseDouble(const JsonValue& value);

}  // namespace opscope

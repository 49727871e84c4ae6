// Scales a decimal text by a power of ten in integers: digits are moved across the decimal point one by
// one, and the first digit behind it is kept for rounding. "1661938466265032.417" us times 10^3 is
// 1661938466265032417 ns. strtod would round to 1661938466265032448: a double has 15 digits, a timestamp in
// nanoseconds has 19.
// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <algorithm>

#include "base/parse_whole.h"
#include "base/text.h"

namespace opscope {
namespace {

// What follows the 'e'.
std::optional<int64_t> ParseExponent(std::string_view digits) {
  constexpr int64_t kMaxExponent = 400;  // beyond doubles
  if (digits.starts_with("+-")) return std::nullopt;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const std::optional<int64_t> exponent = ParseWhole<int64_t>(digits);
  if (!exponent || *exponent < -kMaxExponent || *exponent > kMaxExponent) return std::nullopt;
  return exponent;
}

}  // namespace

std::optional<ScaledDecimal> ParseScaledDecimal(std::string_view text, int power, uint64_t most) {
  ScaledDecimal number;
  number.is_negative = text.starts_with('-');
  if (number.is_negative) text.remove_prefix(1);
  const size_t mark = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (mark != text.size()) {
    const auto parsed = ParseExponent(text.substr(mark + 1));
    if (!parsed) return std::nullopt;
    exponent = *parsed;
  }
  const std::string_view digits = text.substr(0, mark);
  const size_t point = std::min(digits.find('.'), digits.size());
  // How many digits stand before the point once the number is scaled.
  const int64_t due = static_cast<int64_t>(point) + exponent + power;
  int64_t seen = 0;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at == point) continue;
    if (!IsDigit(digits[at])) return std::nullopt;
    const int digit = digits[at] - '0';
    if (seen < due) {
      if (number.whole > most / 10) return std::nullopt;
      number.whole = number.whole * 10 + static_cast<uint64_t>(digit);
    } else {
      if (seen == due) number.first_decimal = digit;
      number.has_decimals |= digit != 0;
    }
    ++seen;
  }
  if (seen == 0) return std::nullopt;
  for (; seen < due && number.whole != 0; ++seen) {
    if (number.whole > most / 10) return std::nullopt;
    number.whole *= 10;
  }
  if (number.whole > most) return std::nullopt;
  return number;
}

}  // namespace opscope

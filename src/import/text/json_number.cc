// Nearly every time is digits, a point and three decimals. One loop makes nanoseconds of it in 64-bit integers, since
// 16 digits times 1000 cannot overflow; longer numbers, exponents and signs take the general decimal parser
// (base/decimal.h), which is exact as well.
//
//   "1661938466265032.417" -> 1661938466265032417 ns; as a double it would be off by up to 125 ns
// SPDX-License-Identifier: Apache-2.0
#include "import/text/json_number.h"

#include <cmath>

#include "base/decimal.h"
#include "base/parse_whole.h"

namespace opscope {
namespace {

// "1661938466265032.417": what nearly every time looks like. False: something else.
bool ParsePlainTime(std::string_view text, int64_t* ns) {
  constexpr size_t kMaxDigits = 16;  // a thousand times that still fits into 64 bits
  uint64_t value = 0;
  size_t at = 0;
  for (; at < text.size() && static_cast<unsigned char>(text[at] - '0') < 10; ++at)
    value = value * 10 + static_cast<uint64_t>(text[at] - '0');
  if (at == 0 || at > kMaxDigits) return false;
  size_t decimals = 0;
  if (at < text.size() && text[at] == '.') {
    for (++at; decimals < 3 && at < text.size() && static_cast<unsigned char>(text[at] - '0') < 10; ++at, ++decimals)
      value = value * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  static constexpr uint64_t kScale[] = {1000, 100, 10, 1};
  value *= kScale[decimals];
  *ns = static_cast<int64_t>(value);
  return at == text.size() && value <= static_cast<uint64_t>(kLatestNs) && (decimals != 0 || text.back() != '.');
}

}  // namespace

std::optional<int64_t> ParseMicroseconds(const JsonValue& value) {
  int64_t ns = 0;
  if ((value.is_number() || value.is_string()) && ParsePlainTime(value.text, &ns)) return ns;
  if (!value.is_number() && !value.is_string()) return std::nullopt;
  const auto number = ParseScaledDecimal(value.text, 3, static_cast<uint64_t>(kLatestNs));
  if (!number) return std::nullopt;
  ns = static_cast<int64_t>(number->whole) + (number->first_decimal >= 5 ? 1 : 0);
  if (ns > kLatestNs) return std::nullopt;
  return number->is_negative ? -ns : ns;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  return ParseWhole<int64_t>(text);
}

std::optional<uint64_t> ParseUnsigned(std::string_view text) {
  return ParseWhole<uint64_t>(text);
}

std::optional<int64_t> ParseWholeNumber(const JsonValue& value) {
  if (!value.is_number()) return std::nullopt;
  if (const auto number = ParseInteger(value.text)) return number;
  const auto number = ParseScaledDecimal(value.text, 0, INT64_MAX);
  if (!number || number->has_decimals) return std::nullopt;
  const auto whole = static_cast<int64_t>(number->whole);
  return number->is_negative ? -whole : whole;
}

std::optional<double> ParseDouble(const JsonValue& value) {
  if (!value.is_number() && !value.is_string()) return std::nullopt;
  const auto number = ParseWhole<double>(value.text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "import/chrome_json_number.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace opscope {
namespace {

template <typename T>
std::optional<T> ParseWhole(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// digits[.digits][e[+-]digits] times 1000, rounded half away from zero; nullopt beyond kLatestNs.
std::optional<int64_t> ParseThousandfold(std::string_view text) {
  size_t at = 0;
  const bool negative = text.starts_with('-');
  if (negative) ++at;
  size_t mark = 0;
  while (mark < text.size() && (text[mark] | 0x20) != 'e')
    ++mark;
  int64_t exponent = 0;
  if (mark != text.size()) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const std::optional<int64_t> parsed = ParseWhole<int64_t>(digits);
    if (!parsed || std::abs(*parsed) > 400) return std::nullopt;
    exponent = *parsed;
  }
  // Digits before the point count while `wanted` of them are due; those after it are bought with the exponent.
  uint64_t value = 0;
  int64_t after_point = 0;
  bool point = false;
  bool any = false;
  int dropped_digit = -1;
  for (; at < mark; ++at) {
    if (text[at] == '.' && !point) {
      point = true;
      continue;
    }
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    any = true;
    if (point && after_point >= 3 + exponent) {
      if (dropped_digit < 0) dropped_digit = after_point == 3 + exponent ? text[at] - '0' : 0;
      continue;
    }
    if (value > static_cast<uint64_t>(kLatestNs)) return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(text[at] - '0');
    if (point) ++after_point;
  }
  if (!any) return std::nullopt;
  for (int64_t shift = 3 + exponent - after_point; shift > 0 && value != 0; --shift) {
    if (value > static_cast<uint64_t>(kLatestNs)) return std::nullopt;
    value *= 10;
  }
  for (int64_t shift = 3 + exponent - after_point; shift < 0; ++shift) {
    dropped_digit = static_cast<int>(value % 10);
    value /= 10;
  }
  if (dropped_digit >= 5) ++value;
  if (value > static_cast<uint64_t>(kLatestNs)) return std::nullopt;
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

}  // namespace

namespace {

// "1661938466265032.417": what nearly every time looks like. False: something else.
bool ParsePlainTime(std::string_view text, int64_t* ns) {
  constexpr size_t kMostDigits = 16;  // a thousand times that still fits into 64 bits
  uint64_t value = 0;
  size_t at = 0;
  for (; at < text.size() && static_cast<unsigned char>(text[at] - '0') < 10; ++at)
    value = value * 10 + static_cast<uint64_t>(text[at] - '0');
  if (at == 0 || at > kMostDigits) return false;
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
  return ParseThousandfold(value.text);
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  return ParseWhole<int64_t>(text);
}

std::optional<uint64_t> ParseUnsigned(std::string_view text) {
  return ParseWhole<uint64_t>(text);
}

std::optional<double> ParseDouble(const JsonValue& value) {
  if (!value.is_number() && !value.is_string()) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(value.text.data(), value.text.data() + value.text.size(), number);
  if (error != std::errc() || end != value.text.data() + value.text.size()) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace opscope

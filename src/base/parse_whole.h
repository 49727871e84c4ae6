// Parses a text that is a number and nothing else, as std::from_chars reads it: without locale, blanks or '+', for
// unsigned types without '-'.
//
//   ParseWhole<int64_t>("-12")    -12
//   ParseWhole<int64_t>("12 ")    nullopt, as of "", "1.5" and numbers that are out of range
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace opscope {

template <typename Number>
[[nodiscard]] std::optional<Number> ParseWhole(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read != end) return std::nullopt;
  return number;
}

}  // namespace opscope

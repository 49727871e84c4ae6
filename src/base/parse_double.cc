// SPDX-License-Identifier: Apache-2.0
#include "base/parse_double.h"

#include <charconv>
#include <clocale>
#include <cstdlib>
#include <string>
#include <system_error>

namespace opscope {

std::optional<double> ParseDouble(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (read != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc()) return number;
  // Out of range: std::from_chars does not say whether the number is too large or too small.
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);  // never freed
  return strtod_l(std::string(text).c_str(), nullptr, plain);
}

}  // namespace opscope

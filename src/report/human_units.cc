// Formats numbers with a unit for the user. The unit is chosen after rounding, so that 999.9996 us is "1.000 ms" and
// not "1000.000 us". The decimal separator is a point in every locale, as a program may have set one with a comma.
// SPDX-License-Identifier: Apache-2.0
#include "report/human_units.h"

#include <charconv>
#include <cmath>
#include <span>

namespace opscope {
namespace {

// Scales by powers of `step`; compares the rounded value, so that no result prints as a full step.
std::string Scaled(double value, double step, std::span<const char* const> units, int decimals) {
  size_t unit = 0;
  const double half_digit = 0.5 * std::pow(10, -decimals);
  while (unit + 1 < units.size() && std::fabs(value) + (unit > 0 ? half_digit : 0) >= step) {
    value /= step;
    ++unit;
  }
  return FixedText(value, unit == 0 ? 0 : decimals) + (units[unit][0] == '\0' ? "" : " ") + units[unit];
}

}  // namespace

std::string FixedText(double value, int decimals) {
  char text[400];  // 1e308 has 309 digits
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals);
  return {text, end.ptr};
}

std::string HumanTime(int64_t ns) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  return Scaled(static_cast<double>(ns), 1000, kUnits, 3);
}

std::string HumanBytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return Scaled(static_cast<double>(bytes), 1024, kUnits, 2);
}

std::string HumanCount(int64_t count) {
  static constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P"};
  return Scaled(static_cast<double>(count), 1000, kUnits, 2);
}

}  // namespace opscope

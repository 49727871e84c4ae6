// Prints floats as Python does. repr() is the shortest text that reads back as the same double, which std::to_chars
// finds; Python differs only in when it switches to exponents and in always writing one decimal, so LaidOut rearranges
// the digits of the scientific form: "1.2345e-06" stays, "1.5e+01" becomes "15.0".
// SPDX-License-Identifier: Apache-2.0
#include "report/python_float.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace opscope {
namespace {

std::string NotFinite(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// With a point as decimal separator in every locale, unlike printf.
std::string Printed(double value, std::chars_format format, int precision) {
  char text[400];  // 1e308 has 309 digits
  const auto end = std::to_chars(text, text + sizeof text, value, format, precision);
  return {text, end.ptr};
}

// Lays out "-1.2345e-06" as Python does: with an exponent if the number has more than `most` digits before the point or
// four zeros after it, else as a decimal with at least one digit after the point.
std::string LaidOut(std::string_view scientific, int most) {
  const size_t e = scientific.find('e');
  int exponent = 0;
  const size_t number = e + (scientific[e + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + number, scientific.data() + scientific.size(), exponent);
  std::string sign, digits;
  for (const char c : scientific.substr(0, e)) {
    if (c == '-') sign = "-";
    if (c >= '0' && c <= '9') digits += c;
  }
  digits.erase(std::max<size_t>(digits.find_last_not_of('0') + 1, 1));
  const int point = exponent + 1;  // digits before it
  if (point <= -4 || point > most) {
    std::string text = sign + digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    const std::string power = std::to_string(std::abs(exponent));
    return text + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  if (point <= 0) return sign + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  const auto whole = static_cast<size_t>(point);
  if (digits.size() < whole + 1) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

}  // namespace

std::string PythonRepr(double value) {
  if (!std::isfinite(value)) return NotFinite(value);
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return LaidOut({text, static_cast<size_t>(end - text)}, 16);
}

std::string PythonFixed(double value, int decimals) {
  return std::isfinite(value) ? Printed(value, std::chars_format::fixed, decimals) : NotFinite(value);
}

std::string PythonGeneral(double value) {
  return std::isfinite(value) ? Printed(value, std::chars_format::general, 6) : NotFinite(value);
}

std::string PythonSignificant(double value, int digits) {
  if (!std::isfinite(value)) return NotFinite(value);
  return LaidOut(Printed(value, std::chars_format::scientific, digits - 1), digits - 1);
}

}  // namespace opscope

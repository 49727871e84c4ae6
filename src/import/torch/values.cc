// Prints texts exactly as torch does, because readers compare them. Numbers are printed by snprintf with 17 digits like
// torch's streams, not in the shortest form; a decimal comma of the program's locale is replaced by a point.
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/values.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace opscope {
namespace {

// In the order of at::ScalarType, torch 2.13.
constexpr std::array<std::string_view, 46> kTypeNames = {
    "unsigned char",
    "signed char",
    "short int",
    "int",
    "long int",
    "c10::Half",
    "float",
    "double",
    "c10::complex<c10::Half>",
    "c10::complex<float>",
    "c10::complex<double>",
    "bool",
    "c10::qint8",
    "c10::quint8",
    "c10::qint32",
    "c10::BFloat16",
    "c10::quint4x2",
    "c10::quint2x4",
    "c10::bits1x8",
    "c10::bits2x4",
    "c10::bits4x2",
    "c10::bits8",
    "c10::bits16",
    "c10::Float8_e5m2",
    "c10::Float8_e4m3fn",
    "c10::Float8_e5m2fnuz",
    "c10::Float8_e4m3fnuz",
    "short unsigned int",
    "unsigned int",
    "long unsigned int",
    "c10::dummy_uint1_7_t<1>",
    "c10::dummy_uint1_7_t<2>",
    "c10::dummy_uint1_7_t<3>",
    "c10::dummy_uint1_7_t<4>",
    "c10::dummy_uint1_7_t<5>",
    "c10::dummy_uint1_7_t<6>",
    "c10::dummy_uint1_7_t<7>",
    "c10::dummy_int1_7_t<1>",
    "c10::dummy_int1_7_t<2>",
    "c10::dummy_int1_7_t<3>",
    "c10::dummy_int1_7_t<4>",
    "c10::dummy_int1_7_t<5>",
    "c10::dummy_int1_7_t<6>",
    "c10::dummy_int1_7_t<7>",
    "c10::Float8_e8m0fnu",
    "c10::Float4_e2m1fn_x2",
};

}  // namespace

std::string_view TorchTypeName(uint32_t scalar_type) {
  return scalar_type < kTypeNames.size() ? kTypeNames[scalar_type] : std::string_view();
}

void AppendTorchDouble(std::string* out, double value) {
  // 2^63 itself is outside; the smallest int64 is inside. Minus zero prints as "0.", as in torch 2.13.
  if (value >= -9223372036854775808.0 && value < 9223372036854775808.0 && std::trunc(value) == value) {
    AppendInt(out, static_cast<int64_t>(value));
    out->push_back('.');
    return;
  }
  std::array<char, 40> digits;
  const int size = std::snprintf(digits.data(), digits.size(), "%.17g", value);
  // A program may have set a locale with a comma.
  for (int i = 0; i < size; ++i) {
    if (digits[static_cast<size_t>(i)] == ',') digits[static_cast<size_t>(i)] = '.';
  }
  out->append(digits.data(), static_cast<size_t>(size));
}

void AppendTorchComplex(std::string* out, double real, double imaginary) {
  AppendTorchDouble(out, real);
  out->push_back(imaginary >= 0 ? '+' : '-');
  AppendTorchDouble(out, std::fabs(imaginary));
  out->push_back('j');
}

}  // namespace opscope

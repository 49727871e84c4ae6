// A table from the type names that torch records, which are C++ names ("long int", "c10::Half"), to bytes. Types that
// pack several elements into a byte count as one byte each, as in torch's own element size.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/element_size.h"

#include <algorithm>
#include <span>

namespace opscope {
namespace {

// By size in bytes.
constexpr std::string_view kOfOneByte[] = {
    "bool", "unsigned char", "signed char", "c10::qint8", "c10::quint8", "c10::quint4x2", "c10::quint2x4",
    // Types of bits, and floats of 8 and 4 bits.
    "c10::bits1x8", "c10::bits2x4", "c10::bits4x2", "c10::bits8", "c10::Float8_e5m2", "c10::Float8_e4m3fn",
    "c10::Float8_e5m2fnuz", "c10::Float8_e4m3fnuz", "c10::Float8_e8m0fnu", "c10::Float4_e2m1fn_x2"};
constexpr std::string_view kOfTwoBytes[] = {"short int", "short unsigned int", "c10::Half", "c10::BFloat16",
                                            "c10::bits16"};
constexpr std::string_view kOfFourBytes[] = {"float", "int", "unsigned int", "c10::qint32", "c10::complex<c10::Half>"};
constexpr std::string_view kOfEightBytes[] = {"double", "long int", "long unsigned int", "c10::complex<float>"};
constexpr std::string_view kOfSixteenBytes[] = {"c10::complex<double>"};

bool IsIn(std::span<const std::string_view> types, std::string_view dtype) {
  return std::find(types.begin(), types.end(), dtype) != types.end();
}

}  // namespace

int64_t ElementSize(std::string_view dtype) {
  if (IsIn(kOfFourBytes, dtype)) return 4;
  if (IsIn(kOfTwoBytes, dtype)) return 2;
  if (IsIn(kOfEightBytes, dtype)) return 8;
  if (IsIn(kOfSixteenBytes, dtype)) return 16;
  if (IsIn(kOfOneByte, dtype)) return 1;
  return dtype.starts_with("c10::dummy_") ? 1 : 0;
}

}  // namespace opscope

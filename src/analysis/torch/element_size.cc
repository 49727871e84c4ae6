// A table from the type names that torch records, which are C++ names ("long int", "c10::Half"), to bytes. Types that
// pack several elements into a byte count as one byte each, as in torch's own element size.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/torch/element_size.h"

#include <algorithm>
#include <iterator>

namespace opscope {
namespace {

struct NamedSize {
  std::string_view name;
  int64_t bytes;
};
constexpr NamedSize kSizes[] = {
    {"float", 4},
    {"double", 8},
    {"long int", 8},
    {"int", 4},
    {"bool", 1},
    {"unsigned char", 1},
    {"signed char", 1},
    {"short int", 2},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"c10::complex<c10::Half>", 4},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
    {"c10::quint4x2", 1},
    {"c10::quint2x4", 1},
    {"c10::bits1x8", 1},
    {"c10::bits2x4", 1},
    {"c10::bits4x2", 1},
    {"c10::bits8", 1},
    {"c10::bits16", 2},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e8m0fnu", 1},
    {"c10::Float4_e2m1fn_x2", 1},
    {"short unsigned int", 2},
    {"unsigned int", 4},
    {"long unsigned int", 8},
};

}  // namespace

int64_t ElementSize(std::string_view dtype) {
  const auto* found =
      std::find_if(std::begin(kSizes), std::end(kSizes), [dtype](const NamedSize& size) { return size.name == dtype; });
  if (found != std::end(kSizes)) return found->bytes;
  return dtype.starts_with("c10::dummy_") ? 1 : 0;
}

}  // namespace opscope

// Expected texts were printed by torch 2.13 ("Concrete Inputs" of exported traces).
// SPDX-License-Identifier: Apache-2.0
#include "import/torch/values.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace opscope {
namespace {

TEST(TorchValues, PrintDoublesAsTorchDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::pair<double, const char*> cases[] = {
      {1.0, "1."},
      {0.1, "0.10000000000000001"},
      {1e-5, "1.0000000000000001e-05"},
      {1e-4, "0.0001"},
      {1e16, "10000000000000000."},
      {9.2e18, "9200000000000000000."},
      {9.3e18, "9.3e+18"},
      {9223372036854775807.0, "9.2233720368547758e+18"},
      {-9223372036854775808.0, "-9223372036854775808."},
      {1e20, "1e+20"},
      {123456789.123, "123456789.123"},
      {-0.0, "0."},
      {-1.0, "-1."},
      {1.0 / 3, "0.33333333333333331"},
      {5e-324, "4.9406564584124654e-324"},
      {kInfinity, "inf"},
      {-kInfinity, "-inf"},
      {std::numeric_limits<double>::quiet_NaN(), "nan"},
  };
  for (const auto& [value, expected] : cases) {
    std::string text;
    AppendTorchDouble(&text, value);
    EXPECT_EQ(text, expected);
  }
}

TEST(TorchValues, PrintComplexNumbersAsTorchDoes) {
  const auto text = [](double real, double imaginary) {
    std::string out;
    AppendTorchComplex(&out, real, imaginary);
    return out;
  };
  EXPECT_EQ(text(1, 2), "1.+2.j");
  EXPECT_EQ(text(0.1, -2.5e-8), "0.10000000000000001-2.4999999999999999e-08j");
  EXPECT_EQ(text(0, -0.0), "0.+0.j");
  EXPECT_EQ(text(std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()), "inf-nanj");
  EXPECT_EQ(text(-3.5, 0), "-3.5+0.j");
}

TEST(TorchValues, NameElementTypesAsTorchDoes) {
  EXPECT_EQ(TorchTypeName(4), "long int");
  EXPECT_EQ(TorchTypeName(6), "float");
  EXPECT_EQ(TorchTypeName(15), "c10::BFloat16");
  EXPECT_EQ(TorchTypeName(27), "short unsigned int");
  EXPECT_EQ(TorchTypeName(45), "c10::Float4_e2m1fn_x2");
  EXPECT_EQ(TorchTypeName(46), "");
}

}  // namespace
}  // namespace opscope

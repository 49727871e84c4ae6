// SPDX-License-Identifier: Apache-2.0
#include "base/saturating.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace opscope {
namespace {

TEST(Saturating, SumsAndDifferencesStopAtTheEnds) {
  EXPECT_EQ(SaturatingAdd(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(SaturatingAdd(INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(SaturatingAdd(INT64_MAX, INT64_MIN), -1);
  EXPECT_EQ(SaturatingSubtract(1, INT64_MIN), INT64_MAX);
  EXPECT_EQ(SaturatingSubtract(-2, INT64_MAX), INT64_MIN);
  EXPECT_EQ(SaturatingSubtract(-1, INT64_MIN), INT64_MAX);
  EXPECT_EQ(SaturatingAbs(INT64_MIN), INT64_MAX);
  EXPECT_EQ(SaturatingAbs(-7), 7);
  EXPECT_EQ(SaturatingAbs(INT64_MAX), INT64_MAX);
}

TEST(Saturating, NumbersWithAPointStopAtTheEndsToo) {
  EXPECT_EQ(ClampToInt64(-1.75), -1);
  EXPECT_EQ(ClampToInt64(9223372036854774784.0), 9223372036854774784);  // the last one below
  EXPECT_EQ(ClampToInt64(9223372036854775808.0), INT64_MAX);
  EXPECT_EQ(ClampToInt64(-9223372036854775808.0), INT64_MIN);
  EXPECT_EQ(ClampToInt64(std::numeric_limits<double>::infinity()), INT64_MAX);
  EXPECT_EQ(ClampToInt64(-std::numeric_limits<double>::infinity()), INT64_MIN);
  EXPECT_EQ(ClampToInt64(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace opscope

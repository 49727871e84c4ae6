// SPDX-License-Identifier: Apache-2.0
#include "base/parse_double.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/german_locale_for_test.h"

namespace opscope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ParseDouble, TakesNumbersThatAreNothingElse) {
  EXPECT_EQ(ParseDouble("-1.5e3"), -1500);
  EXPECT_EQ(ParseDouble("0.1"), 0.1);
  EXPECT_EQ(ParseDouble("-inf"), -kInfinity);
  for (const char* text : {"", " 1", "1 ", "+1", "1,5", "0x10", "1.5e", "one"})
    EXPECT_EQ(ParseDouble(text), std::nullopt) << text;
}

TEST(ParseDouble, RoundsNumbersThatAreOutOfRange) {
  EXPECT_EQ(ParseDouble("1.5e400"), kInfinity);
  EXPECT_EQ(ParseDouble("-1.5e400"), -kInfinity);
  EXPECT_EQ(ParseDouble("1.5e-400"), 0);
}

TEST(ParseDouble, HasAPointInEveryLocale) {
  const GermanLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "the sources of locales are missing";
  EXPECT_EQ(ParseDouble("1.5"), 1.5);
  EXPECT_EQ(ParseDouble("1.5e400"), kInfinity);
  EXPECT_EQ(ParseDouble("1,5"), std::nullopt);
}

}  // namespace
}  // namespace opscope

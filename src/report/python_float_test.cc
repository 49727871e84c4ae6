// SPDX-License-Identifier: Apache-2.0
#include "report/python_float.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/german_locale_for_test.h"
#include "report/human_units.h"

namespace opscope {
namespace {

TEST(PythonFloat, HasTheShortestDigitsThatReadBack) {
  EXPECT_EQ(PythonRepr(0.1), "0.1");
  EXPECT_EQ(PythonRepr(0.021764000000000013), "0.021764000000000013");
  EXPECT_EQ(PythonRepr(2), "2.0");
  EXPECT_EQ(PythonRepr(0.0001), "0.0001");
  EXPECT_EQ(PythonRepr(0.00001), "1e-05");
  EXPECT_EQ(PythonRepr(1e16), "1e+16");
  EXPECT_EQ(PythonRepr(123456789012345.6), "123456789012345.6");
  EXPECT_EQ(PythonRepr(1e15), "1000000000000000.0");
  EXPECT_EQ(PythonRepr(-0.0), "-0.0");
}

TEST(PythonFloat, HasAPointInEveryLocale) {
  const GermanLocale locale;
  if (!locale.is_set()) GTEST_SKIP() << "the sources of locales are missing";
  EXPECT_EQ(PythonFixed(1.5, 2), "1.50");
  EXPECT_EQ(PythonGeneral(1.5), "1.5");
  EXPECT_EQ(PythonSignificant(1.5, 3), "1.5");
  EXPECT_EQ(FixedText(1.5, 2), "1.50");
}

TEST(PythonFloat, KeepsADigitBehindThePointOfSignificantOnes) {
  EXPECT_EQ(PythonSignificant(0, 3), "0.0");
  EXPECT_EQ(PythonSignificant(12, 3), "12.0");
  EXPECT_EQ(PythonSignificant(0.011339, 3), "0.0113");
  EXPECT_EQ(PythonSignificant(2e-6, 3), "2e-06");
  EXPECT_EQ(PythonSignificant(0.000143, 3), "0.000143");
  EXPECT_EQ(PythonSignificant(123, 3), "1.23e+02");
  EXPECT_EQ(PythonSignificant(99.96, 3), "1e+02");
  EXPECT_EQ(PythonSignificant(-1.5, 3), "-1.5");
  EXPECT_EQ(PythonSignificant(1.25e-7, 3), "1.25e-07");
}

TEST(PythonFloat, PrintsNoSignOfWhatIsNoNumber) {
  const double nan = -std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const double value : {nan, -nan}) {
    EXPECT_EQ(PythonRepr(value), "nan");
    EXPECT_EQ(PythonFixed(value, 1), "nan");
    EXPECT_EQ(PythonGeneral(value), "nan");
    EXPECT_EQ(PythonSignificant(value, 3), "nan");
  }
  EXPECT_EQ(PythonFixed(infinity, 2), "inf");
  EXPECT_EQ(PythonSignificant(-infinity, 3), "-inf");
}

}  // namespace
}  // namespace opscope

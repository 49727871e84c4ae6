// SPDX-License-Identifier: Apache-2.0
#include "analysis/student_t.h"

#include <gtest/gtest.h>

#include <limits>

namespace opscope {
namespace {

struct Probability {
  double t, freedom, p;
};
// scipy 1.17.1: 2 * stats.t.sf(t, freedom)
constexpr Probability kProbabilities[] = {
    {0.5, 2, 0.66666666666666674},    {2.776, 4, 0.050022778319976417},  {4.898979485566356, 4, 0.0080498931008377191},
    {1.3, 2.75, 0.29183498396042179}, {12, 7.5, 3.6608064556194809e-06}, {0.01, 1000, 0.99202328193218725},
    {40, 30, 1.3726045194406417e-27}, {1e-06, 9, 0.99999922393018226},
};

struct Quantile {
  double freedom, t;
};
// scipy 1.17.1: stats.t.ppf(0.975, freedom)
constexpr Quantile kQuantiles[] = {
    {1, 12.706204736174694},    {2, 4.3026527297494619},    {2.5, 3.5746548420036817},    {3, 3.1824463052837078},
    {4, 2.7764451051977934},    {7.25, 2.3481948491053708}, {10, 2.2281388519862739},     {30, 2.0422724563012378},
    {99.9, 1.9839958380769385}, {1000, 1.9623390808264083}, {1000000, 1.959966356814107},
};

TEST(StudentT, HasTheProbabilitiesOfScipy) {
  for (const Probability& known : kProbabilities) {
    EXPECT_NEAR(TwoSidedP(known.t, known.freedom) / known.p, 1, 1e-12) << known.t << " " << known.freedom;
    EXPECT_EQ(TwoSidedP(-known.t, known.freedom), TwoSidedP(known.t, known.freedom));
  }
}

TEST(StudentT, HasTheQuantilesOfScipy) {
  for (const Quantile& known : kQuantiles)
    EXPECT_NEAR(StudentQuantile975(known.freedom) / known.t, 1, 1e-11) << known.freedom;
}

TEST(StudentT, IsExceededByItsQuantileWithTheProbabilityOfTheQuantile) {
  for (double freedom = 1; freedom < 2e7; freedom *= 1.37)
    EXPECT_NEAR(TwoSidedP(StudentQuantile975(freedom), freedom), 0.05, 1e-13) << freedom;
}

TEST(StudentT, EndsAtOneAndAtZero) {
  EXPECT_EQ(TwoSidedP(0, 4), 1);
  EXPECT_EQ(TwoSidedP(std::numeric_limits<double>::infinity(), 4), 0);
  EXPECT_EQ(TwoSidedP(1e200, 4), 0);
  EXPECT_EQ(TwoSidedP(1e6, 1e6), 0);
  EXPECT_GT(TwoSidedP(1e-300, 2), 0.999);
}

}  // namespace
}  // namespace opscope

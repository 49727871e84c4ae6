// SPDX-License-Identifier: Apache-2.0
#include "analysis/welch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace opscope {
namespace {

using Samples = std::vector<double>;

MeanDifference Compare(const Samples& a, const Samples& b) {
  return CompareMeans({a.size(), a}, {b.size(), b});
}

TEST(CompareMeans, AHalfIsAHalfHoweverItsMeansWereRounded) {
  std::mt19937 random(4);
  for (int i = 0; i < 1000; ++i) {
    // Sums of three runs of 6 steps each: the difference of the means is (sum of b - sum of a) / 18.
    Samples a, b;
    int64_t numerator = 0;
    for (int run = 0; run < 3; ++run) {
      const int64_t of_a = random() % 100'000, of_b = random() % 100'000;
      a.push_back(static_cast<double>(of_a) / 6), b.push_back(static_cast<double>(of_b) / 6);
      numerator += of_b - of_a;
    }
    const int64_t missing = ((9 - numerator) % 18 + 18) % 18;  // makes it an odd number of halves
    b[0] = (std::round(b[0] * 6) + static_cast<double>(missing)) / 6;
    numerator += missing;
    EXPECT_EQ(Compare(a, b).delta, static_cast<double>(numerator) / 18);
  }
}

struct Comparison {
  Samples a, b;
  double low, high, p;
};

// scipy 1.17.1: stats.ttest_ind(b, a, equal_var=False), its confidence_interval(0.95) and pvalue
const Comparison kComparisons[] = {
    {{100, 110, 120}, {140, 150, 160}, 17.330420644724811, 62.669579355275189, 0.0080498931008377191},
    {{5, 9, 14, 2}, {31, 12, 20}, -6.2892088089277429, 33.289208808927739, 0.11664717184929237},
    {{1000000001, 1000000005, 1000000002, 1000000009},
     {1000000011, 1000000015, 1000000003},
     -7.0977862889349197,
     17.931119542795393,
     0.26370620540946038},
    {{3, 3, 3}, {4, 9, 2, 1}, -4.663204705733679, 6.663204705733679, 0.61339901293785493},
    {{0, 0, 0, 7}, {0, 5, 0}, -6.340362950622735, 6.173696283956069, 0.97385705050359839},
    {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {11, 2, 33, 4, 55}, -12.539716462360047, 43.539716462360047, 0.20091105043958557},
};

TEST(Welch, HasTheIntervalsAndProbabilitiesOfScipy) {
  for (const Comparison& known : kComparisons) {
    const MeanDifference difference = Compare(known.a, known.b);
    ASSERT_TRUE(difference.test.has_value());
    EXPECT_NEAR(difference.test->low, known.low, 1e-6);
    EXPECT_NEAR(difference.test->high, known.high, 1e-6);
    EXPECT_NEAR(difference.test->p, known.p, 1e-8);
    const MeanDifference back = Compare(known.b, known.a);
    EXPECT_EQ(back.delta, -difference.delta);
    EXPECT_EQ(back.test->low, -difference.test->high);
    EXPECT_EQ(back.test->p, difference.test->p);
  }
}

TEST(Welch, CountsSamplesOfZeroThatAreNotListed) {
  const Samples listed = {7, 5}, all = {0, 7, 0, 5, 0}, other = {1, 2, 9};
  const SampleMoments sparse(5, listed), dense(5, all), b(3, other);
  EXPECT_EQ(sparse.mean(), dense.mean());
  EXPECT_DOUBLE_EQ(sparse.variance(), dense.variance());
  EXPECT_DOUBLE_EQ(CompareMeans(sparse, b).test->p, CompareMeans(dense, b).test->p);
}

TEST(Welch, TestsNothingWithLessThanThreeSamplesOnASide) {
  EXPECT_EQ(Compare({1, 2}, {3, 4, 5}).test, std::nullopt);
  EXPECT_EQ(Compare({1, 2, 3}, {3, 4}).delta, 1.5);
  EXPECT_EQ(Compare({1, 2, 3}, {3, 4}).test, std::nullopt);
  EXPECT_EQ(Compare({}, {}).delta, 0);
}

TEST(Welch, IsCertainWithoutVariance) {
  const MeanDifference same = Compare({4, 4, 4}, {4, 4, 4, 4}), other = Compare({4, 4, 4}, {5, 5, 5});
  EXPECT_EQ(same.test->p, 1);
  EXPECT_EQ(same.test->low, 0);
  EXPECT_EQ(other.delta, 1);
  EXPECT_EQ(other.test->p, 0);
  EXPECT_EQ(other.test->low, 1);
  EXPECT_EQ(other.test->high, 1);
}

TEST(Welch, SeesNoVarianceInEqualSamplesWhateverTheirMeanRoundsTo) {
  for (const double value : {1.0 / 3, 0.1, 9.1e18, 1e-9}) {
    for (size_t count = 2; count < 40; ++count) {
      const SampleMoments moments(count, Samples(count, value));
      EXPECT_EQ(moments.variance(), 0);
      EXPECT_EQ(moments.mean(), value);
    }
  }
  EXPECT_EQ(SampleMoments(5, Samples{0, 0}).variance(), 0);
  EXPECT_GT(SampleMoments(5, Samples{1, 1}).variance(), 0);
}

// scipy 1.17.1: stats.false_discovery_control(p) <= 0.05
TEST(BenjaminiHochberg, RejectsWhatScipyRejects) {
  using Rejected = std::vector<uint8_t>;
  EXPECT_EQ(
      RejectedByBenjaminiHochberg(Samples{0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216}, 0.05),
      (Rejected{1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(RejectedByBenjaminiHochberg(Samples{0.041, 0.0009, 0.9, 0.012, 0.0125, 0.03, 0.2, 1}, 0.05),
            (Rejected{0, 1, 0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(RejectedByBenjaminiHochberg({}, 0.05), Rejected{});
  EXPECT_EQ(RejectedByBenjaminiHochberg(Samples{0.05}, 0.05), Rejected{1});
}

TEST(BenjaminiHochberg, RejectsUpToTheLastRankThatHolds) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 500; ++round) {
    Samples p(1 + random() % 12);
    for (double& value : p)
      value = static_cast<double>(random() % 40) / 400;
    Samples sorted = p;
    std::sort(sorted.begin(), sorted.end());
    double last = -1;  // the largest p that is at most its rank's part of the rate
    for (size_t rank = 1; rank <= sorted.size(); ++rank)
      if (sorted[rank - 1] <= static_cast<double>(rank) / static_cast<double>(sorted.size()) * 0.05)
        last = sorted[rank - 1];
    const std::vector<uint8_t> rejected = RejectedByBenjaminiHochberg(p, 0.05);
    for (size_t i = 0; i < p.size(); ++i)
      EXPECT_EQ(rejected[i] != 0, p[i] <= last);
  }
}

}  // namespace
}  // namespace opscope

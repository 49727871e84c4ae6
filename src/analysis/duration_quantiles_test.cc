// SPDX-License-Identifier: Apache-2.0
#include "analysis/duration_quantiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace opscope {
namespace {

TEST(DurationQuantiles, PercentilesAreDurationsThatOccurred) {
  std::vector<int64_t> values;
  for (int64_t i = 1; i <= 100; ++i)
    values.push_back(i * 10);
  const DurationQuantiles many = QuantilesOf(values);
  EXPECT_EQ(many.p50_ns, 500);
  EXPECT_EQ(many.p99_ns, 990);
  EXPECT_EQ(many.stddev_ns, 289);  // 10 * sqrt((100 * 100 - 1) / 12)
  EXPECT_EQ(QuantilesOf({}).p99_ns, 0);
  values = {7};
  const DurationQuantiles one = QuantilesOf(values);
  EXPECT_EQ(one.p50_ns, 7);
  EXPECT_EQ(one.p99_ns, 7);
  EXPECT_EQ(one.stddev_ns, 0);
}

TEST(DurationQuantiles, AgreesWithSortingForEveryCount) {
  std::mt19937_64 random(1);
  for (size_t count = 1; count < 300; ++count) {
    std::vector<int64_t> values(count);
    for (int64_t& value : values)
      value = static_cast<int64_t>(random() % 1000);
    const DurationQuantiles spread = QuantilesOf(values);
    std::sort(values.begin(), values.end());
    const auto not_above = [&](int64_t limit) {
      return static_cast<double>(std::upper_bound(values.begin(), values.end(), limit) - values.begin());
    };
    for (const auto& [value, share] : {std::pair(spread.p50_ns, 0.5), std::pair(spread.p99_ns, 0.99)}) {
      EXPECT_GE(not_above(value), share * static_cast<double>(count));
      EXPECT_LT(not_above(value - 1), share * static_cast<double>(count));
    }
  }
}

TEST(DurationQuantiles, LargeDurationsKeepTheirDigits) {
  std::vector<int64_t> values = {1'000'000'000'000'000, 1'000'000'000'000'002, 1'000'000'000'000'004};
  EXPECT_EQ(QuantilesOf(values).stddev_ns, 2);  // sqrt(8 / 3) = 1.63
}

}  // namespace
}  // namespace opscope

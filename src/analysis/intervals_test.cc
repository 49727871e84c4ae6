// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <vector>

namespace opscope {
namespace {

constexpr int64_t kMoments = 32;
using Moments = std::bitset<kMoments>;

std::vector<Interval> RandomIntervals(std::mt19937_64* random) {
  std::vector<Interval> intervals(1 + (*random)() % 6);
  for (Interval& interval : intervals) {
    interval.begin = static_cast<int64_t>((*random)() % kMoments);
    interval.end = std::min<int64_t>(kMoments, interval.begin + static_cast<int64_t>((*random)() % 8));
  }
  return intervals;
}

Moments MomentsOf(std::span<const Interval> intervals) {
  Moments moments;
  for (const Interval& interval : intervals)
    for (int64_t t = interval.begin; t < interval.end; ++t)
      moments.set(static_cast<size_t>(t));
  return moments;
}

int64_t CountIn(const Moments& moments, int64_t begin, int64_t end) {
  int64_t count = 0;
  for (int64_t t = begin; t < end; ++t)
    count += moments[static_cast<size_t>(t)] ? 1 : 0;
  return count;
}

TEST(IntervalSet, EqualsASetOfMomentsOnRandomIntervals) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2'000; ++round) {
    const std::vector<Interval> first = RandomIntervals(&random), second = RandomIntervals(&random);
    const IntervalSet a(first), b(second);
    const Moments in_a = MomentsOf(first), in_b = MomentsOf(second);
    EXPECT_EQ(MomentsOf(a.intervals()), in_a);
    EXPECT_EQ(MomentsOf(Union(a, b).intervals()), in_a | in_b);
    EXPECT_EQ(MomentsOf(a.Minus(b).intervals()), in_a & ~in_b);
    EXPECT_EQ(a.length(), static_cast<int64_t>(in_a.count()));
    const int64_t begin = static_cast<int64_t>(random() % kMoments), end = static_cast<int64_t>(random() % kMoments);
    EXPECT_EQ(a.LengthIn(begin, end), CountIn(in_a, begin, end));
    size_t near = 0;
    for (const int64_t time : {begin, end, begin + 1, begin - 2, end})
      EXPECT_EQ(a.LengthBefore(time, &near), CountIn(in_a, 0, std::min(time, kMoments)));
  }
}

TEST(IntervalSet, HasDisjointIntervalsWithGapsBetweenThem) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 500; ++round) {
    const IntervalSet a(RandomIntervals(&random)), b(RandomIntervals(&random));
    for (const IntervalSet& set : {a, Union(a, b), a.Minus(b)}) {
      const auto intervals = set.intervals();
      for (size_t i = 0; i < intervals.size(); ++i) {
        EXPECT_LT(intervals[i].begin, intervals[i].end);
        if (i > 0) {
          EXPECT_LT(intervals[i - 1].end, intervals[i].begin);
        }
      }
    }
  }
}

TEST(IntervalSet, OfNothingIsEmpty) {
  const IntervalSet empty, of_points({{3, 3}, {1, 1}});
  for (const IntervalSet& set : {empty, of_points, Union(empty, of_points), empty.Minus(of_points)}) {
    EXPECT_TRUE(set.intervals().empty());
    EXPECT_EQ(set.length(), 0);
    EXPECT_EQ(set.LengthIn(INT64_MIN, INT64_MAX), 0);
  }
}

TEST(IntervalSet, StopsAtTheLargestLength) {
  const IntervalSet all({{INT64_MIN, INT64_MAX}});
  EXPECT_EQ(all.length(), INT64_MAX);
  EXPECT_EQ(all.LengthIn(5, 7), 0) << "both ends are further than a length can say";
  EXPECT_EQ(IntervalSet({{0, INT64_MAX}}).LengthIn(5, 7), 2);
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "job/duration_bins.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace opscope {
namespace {

TEST(DurationBinsTest, SmallDurationsHaveABinEach) {
  for (int64_t duration = 0; duration < 128; ++duration)
    EXPECT_EQ(BinOfDuration(duration), duration);
  EXPECT_EQ(BinOfDuration(-5), 0);
}

TEST(DurationBinsTest, BinsGrowWithDurationsAndAreAtMost1Point6PerCentWide) {
  int32_t bin = BinOfDuration(127);
  int64_t smallest = 127;
  for (int64_t duration = 128; duration < 3'000'000; ++duration) {
    const int32_t next = BinOfDuration(duration);
    ASSERT_TRUE(next == bin || next == bin + 1) << duration;
    if (next != bin) smallest = duration;
    bin = next;
    ASSERT_LE(64 * (duration - smallest), smallest) << duration;
  }
}

TEST(DurationBinsTest, TheLongestDurationHasTheLargestBin) {
  EXPECT_EQ(BinOfDuration(std::numeric_limits<int64_t>::max()), 64 * 56 + 127);
  EXPECT_LT(BinOfDuration(int64_t{1} << 61), BinOfDuration(int64_t{1} << 62));
}

}  // namespace
}  // namespace opscope

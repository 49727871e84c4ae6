// SPDX-License-Identifier: Apache-2.0
#include "import/cuda/cuda_clock.h"

#include <gtest/gtest.h>

namespace opscope {
namespace {

constexpr uint64_t kStart = 1700000000000000000;

TEST(CudaClock, GoesAtTheRateBetweenItsPairs) {
  CudaClock clock;
  clock.Add(kStart + 2000, {2200}, {10});
  clock.Add(kStart, {0}, {20});
  clock.Add(kStart + 1000, {1000}, {5});
  clock.Order();
  EXPECT_EQ(clock.At(kStart + 500).ns, 500);
  EXPECT_EQ(clock.At(kStart + 1500).ns, 1600);
  EXPECT_EQ(clock.At(kStart + 3000).ns, 3400) << "at the rate of the last pair";
  EXPECT_EQ(clock.At(kStart - 100).ns, -100);
  EXPECT_EQ(clock.bound().ns, 20);
}

TEST(CudaClock, LeavesOutReadingsThatWereInterrupted) {
  CudaClock clock;
  clock.Add(kStart, {0}, {100});
  clock.Add(kStart + 1000000, {1900000}, {900000});
  clock.Add(kStart + 2000000, {2000000}, {100});
  clock.Order();
  EXPECT_EQ(clock.At(kStart + 1000000).ns, 1000000);
  EXPECT_EQ(clock.bound().ns, 100);
}

TEST(CudaClock, TakesABadReadingWhereThereIsNoOther) {
  CudaClock clock;
  clock.Add(kStart, {50}, {900000});
  clock.Order();
  EXPECT_EQ(clock.At(kStart + 10).ns, 60);
  EXPECT_EQ(clock.bound().ns, 900000);
}

TEST(CudaClock, LeavesOutPairsThatContradictThoseBefore) {
  CudaClock clock;
  clock.Add(kStart, {1000}, {1});
  clock.Add(kStart + 100, {900}, {1});
  clock.Add(kStart + 200, {1200}, {1});
  clock.Order();
  EXPECT_EQ(clock.At(kStart + 100).ns, 1100);
}

TEST(CudaClock, SaturatesWhereReadingsOfADamagedFileAreFarApart) {
  CudaClock clock;
  clock.Add(1, {0}, {1});
  clock.Add(2, {INT64_MAX}, {1});
  clock.Order();
  EXPECT_EQ(clock.At(1).ns, 0);
  EXPECT_EQ(clock.At(2).ns, INT64_MAX);
  EXPECT_EQ(clock.At(1'000'000'000).ns, 999'999'996) << "the product saturates, times wrap";
}

}  // namespace
}  // namespace opscope

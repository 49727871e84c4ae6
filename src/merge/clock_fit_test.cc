// SPDX-License-Identifier: Apache-2.0
#include "merge/clock_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace opscope {
namespace {

// Ends of collectives over `range_ns`: the own clock has the drift, and sees the first ones `late_ns` late, the last
// ones in time.
std::vector<ClockPair> Pairs(uint64_t seed, int count, double range_ns, double drift, double noise_ns, double late_ns) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> noise(-noise_ns, noise_ns);
  std::vector<ClockPair> pairs;
  for (int i = 0; i < count; ++i) {
    const double part = static_cast<double>(i) / (count - 1), reference = part * range_ns;
    const double own = reference * (1 + drift) + noise(random) + late_ns * (1 - part);
    pairs.push_back({std::llround(own), std::llround(reference)});
  }
  return pairs;
}

TEST(ClockFit, FindsTheDriftOfACrystal) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const ClockFit fit = FitClock(Pairs(seed, 200, 20e9, 50e-6, 10e3, 0));
    EXPECT_NEAR(fit.map.drift, -50e-6, 1e-6) << seed;
    EXPECT_FALSE(fit.drifts_too_much) << seed;
  }
}

TEST(ClockFit, SaysOfAnImpossibleDriftThatTheMomentsAreOthers) {
  for (uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_TRUE(FitClock(Pairs(seed, 100, 2e9, 5e-3, 10e3, 0)).drifts_too_much) << seed;
}

// Two milliseconds in a quarter of a second are eight times what a crystal may drift.
TEST(ClockFit, AFewCollectivesThatEndLateAreNoDrift) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const ClockFit fit = FitClock(Pairs(seed, 16, 250e6, 0, 0.5e6, 2e6));
    EXPECT_FALSE(fit.drifts_too_much) << seed;
    EXPECT_LT(std::fabs(fit.map.drift), 500e-6) << seed;
    EXPECT_LT(std::llabs(fit.map.offset_ns), 2'500'000) << seed;
  }
}

TEST(ClockFit, SaturatesTimesAtTheEndsOfTheirRange) {
  const std::vector<ClockPair> pairs = {
      {INT64_MIN, INT64_MAX}, {INT64_MAX, INT64_MIN}, {0, INT64_MAX}, {INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}};
  const ClockFit fit = FitClock(pairs);
  EXPECT_GE(fit.residual_p50_ns, 0);
  EXPECT_GE(fit.residual_p99_ns, fit.residual_p50_ns);
  constexpr ClockMap kSteep{.pivot_ns = 0, .offset_ns = 0, .drift = 1e9};
  EXPECT_EQ(kSteep.ToReference(1000000000000), INT64_MIN + 999999999999) << "the move saturates, the sum wraps around";
}

}  // namespace
}  // namespace opscope

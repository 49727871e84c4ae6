// Ticks into time against a clock that is known: drift, jitter of the calibrations, suspends, nonsense.
// SPDX-License-Identifier: Apache-2.0
#include "import/recording/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

namespace opscope {
namespace {

constexpr double kTicksPerNs = 3.0;
constexpr int64_t kEpochNs = 1700000000000000000;
constexpr int64_t kSecondNs = 1000000000;

// A counter whose rate is off by `ppm`, and wanders by one in a million per minute as it warms up.
struct Counter {
  double ppm = 0;
  uint64_t At(int64_t ns) const {
    const auto t = static_cast<double>(ns);
    return 1000000 + static_cast<uint64_t>(t * kTicksPerNs * (1 + ppm * 1e-6 + t * 1e-9 / 60 * 0.5e-6));
  }
};

// One calibration a second for a minute, each off by up to `jitter_ns`.
std::vector<Calibration> CalibrateForAMinute(const Counter& counter, int64_t jitter_ns, std::mt19937_64* random) {
  std::vector<Calibration> all;
  std::uniform_int_distribution<int64_t> jitter(-jitter_ns, jitter_ns);
  for (int64_t second = 0; second <= 60; ++second) {
    all.push_back({counter.At(second * kSecondNs), kEpochNs + second * kSecondNs + jitter(*random)});
  }
  std::shuffle(all.begin(), all.end(), *random);
  return all;
}

// The largest error at random moments of the minute; times must be in the order of their ticks.
int64_t LargestError(const Counter& counter, const TickClock& clock, std::mt19937_64* random) {
  std::vector<int64_t> moments;
  for (int i = 0; i < 20000; ++i)
    moments.push_back(static_cast<int64_t>((*random)() % (60 * static_cast<uint64_t>(kSecondNs))));
  std::sort(moments.begin(), moments.end());
  int64_t largest = 0, last = INT64_MIN;
  for (const int64_t moment : moments) {
    const int64_t read = clock.At(counter.At(moment)).ns + clock.epoch_ns() - kEpochNs;
    EXPECT_GE(read, last);
    last = read;
    largest = std::max(largest, std::abs(read - moment));
  }
  return largest;
}

TEST(TickClock, FollowsACounterThatDriftsWithinAMicrosecondAndTheJitter) {
  std::mt19937_64 random(1);
  for (const double ppm : {-200.0, -1.0, 0.0, 50.0, 200.0}) {
    for (const int64_t jitter_ns : {int64_t{0}, int64_t{50}, int64_t{100000}}) {
      const Counter counter{ppm};
      const TickClock clock(CalibrateForAMinute(counter, jitter_ns, &random));
      const int64_t error = LargestError(counter, clock, &random);
      EXPECT_LE(error, 1000 + jitter_ns) << ppm << " ppm, jitter " << jitter_ns;
      std::printf("drift %+.0f ppm, jitter %lld ns: error %lld ns at most in 60 s\n", ppm,
                  static_cast<long long>(jitter_ns), static_cast<long long>(error));
    }
  }
}

// A dump calibrates when it is written, which may be just after a calibration of the clock's own.
TEST(TickClock, TwoCalibrationsAMillisecondApartDoNotBendTheRateOfWhatFollows) {
  const Counter counter;
  std::vector<Calibration> all;
  for (const int64_t ms : {0, 250, 251})
    all.push_back({counter.At(ms * 1'000'000), kEpochNs + ms * 1'000'000 + (ms == 251 ? 100 : 0)});
  const TickClock clock(std::move(all));
  const int64_t later = 10 * kSecondNs;  // a rate of 1 ms, off by 100 ns, would be off by 1 ms here
  const int64_t read = clock.At(counter.At(later)).ns + clock.epoch_ns() - kEpochNs;
  EXPECT_LT(std::abs(read - later), 10'000);
}

TEST(TickClock, GivesBackTheTimesThatItWasAskedTheTicksOf) {
  std::mt19937_64 random(7);
  const Counter counter{30};
  const TickClock clock(CalibrateForAMinute(counter, 100, &random));
  int64_t wrong = 0;
  for (int i = 0; i < 100000; ++i) {
    const Timestamp time{static_cast<int64_t>(random() % (80 * static_cast<uint64_t>(kSecondNs)))};
    const uint64_t ticks = clock.TicksAt(time);
    const int64_t off = clock.At(ticks).ns - time.ns;
    ASSERT_GE(off, 0);
    ASSERT_LE(off, 1);  // between two pieces there may be a nanosecond that no tick has
    wrong += off;
    ASSERT_LT(clock.At(ticks - 1).ns, time.ns) << "the first such tick";
  }
  EXPECT_LE(wrong, 1);
}

TEST(TickClock, ASuspendBendsNoTimeBeyondTheSecondItLiesIn) {
  // The counter goes on while the machine sleeps for ten minutes, its clock does not.
  const auto ticks_at = [](int64_t ns) {
    const int64_t slept = ns > 30 * kSecondNs + kSecondNs / 2 ? 600 * kSecondNs : 0;
    return static_cast<uint64_t>((ns + slept) * 3);
  };
  std::vector<Calibration> calibrations;
  for (int64_t second = 0; second <= 60; ++second)
    calibrations.push_back({ticks_at(second * kSecondNs), kEpochNs + second * kSecondNs});
  const TickClock clock(calibrations);
  int64_t last = INT64_MIN;
  for (int64_t ns = 0; ns <= 60 * kSecondNs; ns += 1234567) {
    const int64_t read = clock.At(ticks_at(ns)).ns;
    EXPECT_GE(read, last);
    last = read;
    const bool in_that_second = ns >= 30 * kSecondNs && ns <= 31 * kSecondNs;
    EXPECT_LE(std::abs(read - ns), in_that_second ? kSecondNs : 1000) << ns;
  }
}

TEST(TickClock, KeepsTheOrderOfTicksWhateverTheCalibrationsSay) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Calibration> calibrations(random() % 8);
    for (Calibration& calibration : calibrations) {
      calibration.ticks = random() >> (random() % 64);
      calibration.unix_ns = static_cast<int64_t>(random() >> (1 + random() % 63));
    }
    const TickClock clock(calibrations);
    // Around a calibration, where one piece ends and the next begins.
    const uint64_t middle = calibrations.empty() ? random() >> 2 : calibrations[0].ticks;
    uint64_t ticks = middle - std::min<uint64_t>(middle, 25 * 500000);
    int64_t last = INT64_MIN;
    for (int i = 0; i < 50; ++i) {
      const int64_t read = clock.At(ticks).ns;
      ASSERT_GE(read, last) << "round " << round;
      last = read;
      ticks += random() % 1000000;
    }
  }
}

}  // namespace
}  // namespace opscope

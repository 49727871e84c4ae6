// SPDX-License-Identifier: Apache-2.0
#include "wire/span_times.h"

#include <gtest/gtest.h>

#include <random>

namespace opscope {
namespace {

struct SpanRun {
  std::vector<uint64_t> depth, start, duration;
  uint64_t base = 0;
};

void ExpectRoundTrip(const std::vector<SpanRun>& runs) {
  EdgeGaps gaps;
  for (const SpanRun& run : runs)
    AppendEdgeGaps(run.depth, run.start, run.duration, run.base, &gaps);
  EdgeGapReader reader(&gaps);
  for (const SpanRun& run : runs) {
    std::vector<uint64_t> start(run.depth.size()), duration(run.depth.size());
    ASSERT_TRUE(reader.Read(run.depth, run.base, start, duration));
    EXPECT_EQ(start, run.start);
    EXPECT_EQ(duration, run.duration);
  }
  EXPECT_TRUE(reader.at_end());
}

TEST(EdgeGaps, StoreTheExampleOfTheHeader) {
  const SpanRun run{{0, 1, 1}, {0, 10, 35}, {100, 20, 55}, 0};
  EdgeGaps gaps;
  AppendEdgeGaps(run.depth, run.start, run.duration, run.base, &gaps);
  EXPECT_EQ(gaps.gaps[0][0], (std::vector<uint64_t>{0, 10}));
  EXPECT_EQ(gaps.gaps[1][0], (std::vector<uint64_t>{5}));
  EXPECT_EQ(gaps.gaps[0][1], (std::vector<uint64_t>{20, 55}));
  EXPECT_EQ(gaps.gaps[1][1], (std::vector<uint64_t>{10}));
  ExpectRoundTrip({run});
}

TEST(EdgeGaps, GiveBackTimesThatContradictTheNesting) {
  const uint64_t seed = 7;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<SpanRun> runs(1 + random() % 3);
    for (SpanRun& run : runs) {
      run.base = random();
      for (size_t rows = random() % 20; rows > 0; --rows) {
        run.depth.push_back(random() % 5);
        run.start.push_back(random() >> (random() % 64));
        run.duration.push_back(random() >> (random() % 64));
      }
    }
    ExpectRoundTrip(runs);
  }
}

TEST(EdgeGaps, SayWhenThereAreTooFew) {
  const std::vector<uint64_t> depth = {0, 1};
  EdgeGaps gaps;
  gaps.gaps[0][0] = {1, 2};
  gaps.gaps[0][1] = {3};
  EdgeGapReader reader(&gaps);
  std::vector<uint64_t> start(2), duration(2);
  EXPECT_FALSE(reader.Read(depth, 0, start, duration));
}

}  // namespace
}  // namespace opscope

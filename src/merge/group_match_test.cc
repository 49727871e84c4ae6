// SPDX-License-Identifier: Apache-2.0
#include "merge/group_match.h"

#include <gtest/gtest.h>

#include <vector>

namespace opscope {
namespace {

constexpr ClockBelief kClocks{.max_difference_ns = 5'000'000'000};

// Of the example in group_match.cc.
constexpr Candidate kRight{.shift = 0, .overlap = 12, .jitter_ns = 1000, .spread_ns = 1000, .difference_ns = 2'000'000};
constexpr Candidate kOneStepOff{.shift = 1,
                                .overlap = 11,
                                .jitter_ns = 1000,
                                .spread_ns = 1000,
                                .difference_ns = -1'000'000,
                                .begins_apart = true,
                                .ends_apart = true};

int64_t Chosen(const Candidate& a, const Candidate& b, const ClockBelief& belief) {
  const std::vector<Candidate> candidates = {a, b};
  return ChooseCandidate(candidates, belief, [](const Candidate&) { return std::vector<ClockPair>(); }).shift;
}

TEST(ChooseCandidate, EqualWindowsOutweighAMillisecond) {
  EXPECT_EQ(Chosen(kRight, kOneStepOff, kClocks), 0);
  EXPECT_EQ(Chosen(kOneStepOff, kRight, kClocks), 0);
}

TEST(ChooseCandidate, ManyMillisecondsOutweighEqualWindows) {
  Candidate far = kRight;
  far.difference_ns = 30'000'000;
  EXPECT_EQ(Chosen(far, kOneStepOff, kClocks), 1);
  EXPECT_EQ(Chosen(far, kOneStepOff, {}), 0) << "clocks that are not comparable say nothing";
}

TEST(ChooseCandidate, AMillisecondIsMuchForOneMachine) {
  Candidate near = kOneStepOff;
  near.difference_ns = 5'000;
  EXPECT_EQ(Chosen(kRight, near, {.max_difference_ns = 5'000'000'000, .error_ns = 20'000}), 1);
}

TEST(ChooseCandidate, VariationOfTheStepsOutweighsClocksAndWindows) {
  Candidate late = kOneStepOff;
  late.difference_ns = 30'000'000;
  Candidate varied = kRight;
  varied.spread_ns = 50'000;
  EXPECT_EQ(Chosen(varied, late, kClocks), 1);
}

TEST(ChooseCandidate, ALuckyShortOverlapIsNoVariation) {
  Candidate lucky = kOneStepOff;
  lucky.overlap = 3, lucky.difference_ns = 6'000'000;
  Candidate noisy = kRight;
  noisy.spread_ns = 5'000;
  EXPECT_EQ(Chosen(noisy, lucky, kClocks), 0);
}

TEST(MeasureSpread, IsThatOfEveryPointWhereMostGapsAreRegular) {
  std::vector<ClockPair> pairs;  // two collectives per step, of which the second follows at once
  for (const int64_t varied_ns : {0, 5000, 1000, 7000, 3000}) {
    const int64_t begin_ns = static_cast<int64_t>(pairs.size()) * 1'000'000;
    pairs.push_back({begin_ns, begin_ns + varied_ns});
    pairs.push_back({begin_ns + 1000, begin_ns + 1000 + varied_ns});
  }
  Candidate candidate{.overlap = 10};
  MeasureJitter(pairs, &candidate);
  MeasureSpread(pairs, &candidate);
  EXPECT_EQ(candidate.jitter_ns, 0);
  EXPECT_EQ(candidate.spread_ns, 2000);
}

TEST(MeasureSpread, ADriftIsNoSpread) {
  std::vector<ClockPair> pairs;
  for (int64_t i = 0; i < 100; ++i)
    pairs.push_back({i * 100'000'000, i * 100'005'000});
  Candidate candidate{.overlap = 100};
  MeasureJitter(pairs, &candidate);
  MeasureSpread(pairs, &candidate);
  EXPECT_EQ(candidate.jitter_ns, 5'000);
  EXPECT_EQ(candidate.spread_ns, 5'000);
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "merge/number_match.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "merge/sequence_match.h"

namespace opscope {
namespace {

constexpr int64_t kStepNs = 3'000'000;
constexpr ClockBelief kClocks{.max_difference_ns = 5'000'000'000};

// One point of each number of [first, end), a step apart.
std::vector<SyncPoint> Steps(int64_t first, int64_t end, int64_t clock_ns) {
  std::vector<SyncPoint> points;
  for (int64_t number = first; number < end; ++number)
    points.push_back({number * kStepNs + clock_ns, 1, number});
  return points;
}

void Append(std::vector<SyncPoint>* points, std::vector<SyncPoint> more) {
  points->insert(points->end(), more.begin(), more.end());
}

TEST(NumberMatch, WindowsThatBeginAtOtherCollectivesPairEqualNumbers) {
  const auto match = MatchByNumber(Steps(0, 10, 0), Steps(2, 12, 2 * kStepNs), kClocks);
  ASSERT_TRUE(match);
  ASSERT_EQ(match->outcome, MatchOutcome::kMatched);
  ASSERT_EQ(match->pairs.size(), 8u);
  for (const ClockPair& pair : match->pairs)
    EXPECT_EQ(pair.reference - pair.own, -2 * kStepNs);
  EXPECT_EQ(match->before, 2u);
  EXPECT_EQ(match->after, 0u);
}

TEST(NumberMatch, WindowsWithoutACommonNumberShareNothing) {
  const std::vector<SyncPoint> reference = Steps(0, 10, 0);
  EXPECT_EQ(MatchByNumber(reference, Steps(10, 20, 0), kClocks)->outcome, MatchOutcome::kNothingShared);
  EXPECT_EQ(MatchByNumber(reference, Steps(10, 20, 60'000'000'000), kClocks)->outcome, MatchOutcome::kOtherTime);
  EXPECT_EQ(MatchByNumber(reference, Steps(10, 20, 60'000'000'000), {})->outcome, MatchOutcome::kNothingShared);
}

TEST(NumberMatch, OfTwoStartsOfTheProgramTheNearOneIsMeant) {
  constexpr int64_t kRestartNs = 1'000'000'000;
  std::vector<SyncPoint> reference = Steps(0, 10, 0);
  Append(&reference, Steps(0, 10, kRestartNs));
  for (const int64_t start_ns : {int64_t{0}, kRestartNs}) {
    const auto match = MatchByNumber(reference, Steps(2, 10, start_ns + kStepNs), kClocks);
    ASSERT_TRUE(match);
    ASSERT_EQ(match->pairs.size(), 8u);
    EXPECT_EQ(match->pairs.front().reference - match->pairs.front().own, -kStepNs);
  }
}

TEST(NumberMatch, BothStartsArePairedWhateverEachLacks) {
  constexpr int64_t kRestartNs = 1'000'000'000;
  std::vector<SyncPoint> reference = Steps(0, 10, 0), own = Steps(3, 10, 500);
  Append(&reference, Steps(0, 10, kRestartNs));
  Append(&own, Steps(2, 10, kRestartNs + 500));
  const auto match = MatchByNumber(reference, own, kClocks);
  ASSERT_TRUE(match);
  EXPECT_EQ(match->pairs.size(), 15u);
  for (const ClockPair& pair : match->pairs)
    EXPECT_EQ(pair.reference - pair.own, -500);
}

TEST(NumberMatch, NumbersOfOtherOperationsDoNotCount) {
  std::vector<SyncPoint> own = Steps(0, 10, 0);
  for (SyncPoint& point : own)
    point.label = point.number == 3 || point.number == 7 ? 2 : 1;
  EXPECT_FALSE(MatchByNumber(Steps(0, 10, 0), own, kClocks));
}

TEST(NumberMatch, CountersThatDoNotCountTheSameDoNotCount) {
  std::vector<SyncPoint> own = Steps(0, 40, 0);
  for (SyncPoint& point : own)
    *point.number *= 2;
  EXPECT_FALSE(MatchByNumber(Steps(0, 40, 0), own, kClocks));
  EXPECT_EQ(MatchSequences({{"group", Steps(0, 40, 0)}}, {{"group", own}}, kClocks).pairs.size(), 40u);
}

TEST(NumberMatch, EqualNumbersOfAnotherRunDoNotFit) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<SyncPoint> lists[2];
    for (std::vector<SyncPoint>& list : lists) {
      int64_t now = 0;
      for (int64_t number = 0; number < 1000; ++number)
        list.push_back({now += kStepNs + static_cast<int64_t>(random() % 1'000'000), 1, number});
    }
    EXPECT_EQ(MatchByNumber(lists[0], lists[1], kClocks)->outcome, MatchOutcome::kDoesNotFit) << seed;
  }
}

TEST(NumberMatch, NoiseThatEqualsTheVariationContradictsNoNumbers) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<SyncPoint> reference = Steps(0, 60, 0), own = Steps(0, 60, 2'000'000);
    for (std::vector<SyncPoint>* list : {&reference, &own}) {
      for (SyncPoint& point : *list)
        point.time_ns += static_cast<int64_t>(random() % 600'000);
    }
    const auto match = MatchByNumber(reference, own, kClocks);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->outcome, MatchOutcome::kMatched) << seed;
  }
}

// Lists of which each lacks some and begins anywhere: the pairs are those that a look at every two points finds.
TEST(NumberMatch, PairsAreThoseOfEveryTwoPointsWithEqualNumbers) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
    const int64_t clock_ns = below(6 * kStepNs) - 3 * kStepNs;
    std::vector<SyncPoint> lists[2];
    for (std::vector<SyncPoint>& list : lists) {
      for (const SyncPoint& point : Steps(below(5), 10 + below(20), &list == lists ? 0 : clock_ns)) {
        if (below(10) > 0) list.push_back({point.time_ns, static_cast<uint64_t>(*point.number % 3), point.number});
      }
    }
    std::vector<std::pair<int64_t, int64_t>> expected, found;
    for (const SyncPoint& own : lists[1]) {
      for (const SyncPoint& reference : lists[0]) {
        if (own.number == reference.number) expected.emplace_back(own.time_ns, reference.time_ns);
      }
    }
    for (const ClockPair& pair : MatchSequences({{"group", lists[0]}}, {{"group", lists[1]}}, kClocks).pairs)
      found.emplace_back(pair.own, pair.reference);
    EXPECT_EQ(found, expected) << seed;
  }
}

TEST(MatchSequences, NeverPairsDifferentNumbersWhereSomePointsHaveNone) {
  std::vector<SyncPoint> reference = Steps(0, 12, 0), own = Steps(2, 14, 2 * kStepNs);
  for (size_t i = 0; i < 12; i += 3)
    own[i].number.reset();
  const SequenceMatch match = MatchSequences({{"group", reference}}, {{"group", own}}, kClocks);
  ASSERT_EQ(match.pairs.size(), 10u);
  for (const ClockPair& pair : match.pairs)
    EXPECT_EQ(pair.reference - pair.own, -2 * kStepNs);
}

TEST(MatchSequences, NumbersOfOneGroupTellWhichStepIsWhichInTheOthers) {
  std::vector<SyncPoint> barriers = Steps(0, 12, 0), own_barriers = Steps(2, 14, 2 * kStepNs);
  for (std::vector<SyncPoint>* list : {&barriers, &own_barriers}) {
    for (SyncPoint& point : *list)
      point.number.reset();
  }
  const SyncPoints reference = {{"", barriers}, {"nccl", Steps(0, 12, 0)}};
  const SyncPoints own = {{"", own_barriers}, {"nccl", Steps(2, 14, 2 * kStepNs)}};
  const SequenceMatch match = MatchSequences(reference, own, kClocks);
  EXPECT_EQ(match.pairs.size(), 10u);
  EXPECT_EQ(match.before, 2u + 2u);
}

TEST(PairsNear, NeverPairsDifferentNumbersOfANumberedGroup) {
  const SyncPoints reference = {{"group", Steps(0, 4, 0)}}, own = {{"group", Steps(1, 5, -kStepNs)}};
  EXPECT_EQ(PairsNear(reference, own, {}, 10).size(), 4u);
  EXPECT_TRUE(PairsNear(reference, own, {}, 10, {"group"}).empty());
}

}  // namespace
}  // namespace opscope

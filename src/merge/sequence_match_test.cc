// SPDX-License-Identifier: Apache-2.0
#include "merge/sequence_match.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace opscope {
namespace {

std::vector<std::pair<int64_t, int64_t>> OwnAndReference(const std::vector<ClockPair>& pairs) {
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const ClockPair& pair : pairs)
    times.emplace_back(pair.own, pair.reference);
  return times;
}

TEST(PairsNear, TakesTheNearestPointOfTheSameLabelAndTheEarlierOfTwo) {
  const SyncPoints reference = {{"group", {{10, 1}, {20, 2}, {30, 1}}}};
  const SyncPoints own = {{"group", {{20, 1}, {20, 3}, {21, 1}, {100, 1}}}, {"other", {{10, 1}}}};
  EXPECT_EQ(OwnAndReference(PairsNear(reference, own, {}, 10)),
            (std::vector<std::pair<int64_t, int64_t>>{{20, 10}, {21, 30}}));
}

TEST(PairsNear, IsNotQuadraticWhereAllTimesAreEqual) {
  constexpr size_t kPoints = 300'000;
  const SyncPoints points = {{"group", std::vector<SyncPoint>(kPoints, SyncPoint{5, 1})}};
  EXPECT_EQ(PairsNear(points, points, {}, 50'000).size(), kPoints);
}

TEST(MatchSequences, BearsTimesAtTheEndsOfTheirRange) {
  std::vector<SyncPoint> list;
  for (uint64_t i = 0; i < 20; ++i)
    list.push_back({i < 10 ? INT64_MIN : INT64_MAX, 1});
  const SyncPoints points = {{"group", list}}, late = {{"group", std::vector<SyncPoint>(20, SyncPoint{INT64_MAX, 1})}};
  const SequenceMatch match = MatchSequences(points, points, {5'000'000'000});
  EXPECT_EQ(match.outcome, MatchOutcome::kMatched);
  EXPECT_FALSE(match.pairs.empty());
  EXPECT_LE(MatchSequences(points, late, {}).pairs.size(), list.size());
}

}  // namespace
}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "report/html/page_parts.h"

namespace opscope {
namespace {

std::vector<std::string> IdsOf(const std::vector<std::pair<std::string, std::string>>& tracks) {
  std::vector<ListedThread> listed;
  for (const auto& [pid, tid] : tracks) {
    ListedThread& track = listed.emplace_back();
    track.pid = pid;
    track.tid = tid;
  }
  return DistinctTrackIds(listed);
}

using Ids = std::vector<std::string>;

TEST(DistinctTrackIds, AreThoseOfTheInputWhereTheyDiffer) {
  EXPECT_EQ(IdsOf({}), Ids());
  EXPECT_EQ(IdsOf({{"1", "7"}, {"1", "8"}, {"2", "7"}}), (Ids{"1/7", "1/8", "2/7"}));
}

TEST(DistinctTrackIds, NumberTheTracksOfMergedRanks) {
  EXPECT_EQ(IdsOf({{"7", "7"}, {"7", "7"}, {"7", "8"}, {"7", "7"}}), (Ids{"7/7", "7/7#2", "7/8", "7/7#3"}));
}

TEST(DistinctTrackIds, GoAroundIdsThatLookLikeNumberedOnes) {
  // The track that is called so in the input keeps its id, wherever it stands.
  EXPECT_EQ(IdsOf({{"7", "7"}, {"7", "7"}, {"7", "7#2"}}), (Ids{"7/7", "7/7#3", "7/7#2"}));
  EXPECT_EQ(IdsOf({{"7", "7#2"}, {"7", "7"}, {"7", "7"}, {"7", "7"}}), (Ids{"7/7#2", "7/7", "7/7#3", "7/7#4"}));
  // "a/b" and "c" give the same text as "a" and "b/c".
  EXPECT_EQ(IdsOf({{"a/b", "c"}, {"a", "b/c"}}), (Ids{"a/b/c", "a/b/c#2"}));
}

TEST(DistinctTrackIds, DifferForManyEqualTracks) {
  const Ids ids = IdsOf(std::vector<std::pair<std::string, std::string>>(10'000, {"1", "1"}));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(ids.back(), "1/1#10000");
}

}  // namespace
}  // namespace opscope

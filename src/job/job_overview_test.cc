// Which ranks a page shows if the spans of all are too many.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/job_overview.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace opscope {
namespace {

// Ranks 0 to 9 of 100 spans; rank 7 is a straggler, and the critical path lies on 7, 4 and 2.
JobOverview TenRanks() {
  JobOverview overview;
  for (int32_t rank = 0; rank < 10; ++rank) {
    overview.rank_of_row.push_back(rank);
    overview.spans_of_row.push_back(100);
  }
  overview.straggler_of_row = {{.ranks = {7}, .first_step = 3}};
  overview.critical_rank_of_row = {7, 4, 2};
  return overview;
}

using Ranks = std::vector<int32_t>;

TEST(JobOverviewTest, AllRanksAreShownIfTheyFit) {
  EXPECT_EQ(RanksToShow(TenRanks(), 1000), Ranks());
  EXPECT_EQ(RanksToShow(JobOverview(), 0), Ranks());
}

TEST(JobOverviewTest, StragglersComeFirstThenTheCriticalPathThenTheLowestRanks) {
  EXPECT_EQ(RanksToShow(TenRanks(), 100), Ranks({7}));
  EXPECT_EQ(RanksToShow(TenRanks(), 299), Ranks({4, 7}));
  EXPECT_EQ(RanksToShow(TenRanks(), 500), Ranks({0, 1, 2, 4, 7}));
}

TEST(JobOverviewTest, OneRankIsShownEvenIfItIsTooLarge) {
  EXPECT_EQ(RanksToShow(TenRanks(), 5), Ranks({7}));
}

TEST(JobOverviewTest, OddInputsAreHarmless) {
  JobOverview overview = TenRanks();
  overview.straggler_of_row = {{.ranks = {}, .first_step = 0}, {.ranks = {99, 7}, .first_step = 0}};
  overview.critical_rank_of_row = {-1, 3};
  overview.spans_of_row.assign(10, UINT64_MAX);
  EXPECT_EQ(RanksToShow(overview, UINT64_MAX - 1), Ranks({3}));
}

}  // namespace
}  // namespace opscope

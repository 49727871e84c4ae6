// The member "ranks" keeps to its number of bytes, whatever the job is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "opscope/trace.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

StepHeatMap MapOf(size_t ranks, size_t steps) {
  StepHeatMap map;
  map.ranks.resize(ranks);
  map.steps.resize(steps);
  std::iota(map.ranks.begin(), map.ranks.end(), int64_t{0});
  std::iota(map.steps.begin(), map.steps.end(), int64_t{0});
  for (size_t step = 0; step < steps; ++step)
    map.median_ns.push_back(static_cast<int64_t>(step * 7919 % 100'003));
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (uint32_t step = 0; step < steps; ++step)
      map.cells.push_back({1, rank, step, int64_t{rank} * 104'729 % 50'021 + step});
  }
  return map;
}

std::string RanksOf(const StepHeatMap& map, size_t max_bytes) {
  JobOverview job;
  job.steps = job.steps_without_waiting = map;
  const Trace none;
  PageResults results;
  results.trace = &none;
  results.job = &job;
  std::string out;
  AppendPageRanks(results, max_bytes, &out);
  return out;
}

TEST(PageRanks, PicturesTakeAtMostTheirShare) {
  constexpr size_t kRest = 500;  // facts of the job
  const StepHeatMap map = MapOf(100, 200);
  size_t before = 0;
  for (const size_t most : {size_t{3'000}, size_t{10'000}, size_t{50'000}, size_t{1'000'000}}) {
    const std::string out = RanksOf(map, most);
    EXPECT_LE(out.size(), most + kRest);
    EXPECT_GE(out.size(), before);
    before = out.size();
  }
  EXPECT_NE(RanksOf(map, 1'000'000).find("\"ranks_per_cell\":1,\"steps_per_cell\":1"), std::string::npos);
}

TEST(PageRanks, PictureIsEmptyIfItsStepsAloneDoNotFit) {
  const std::string out = RanksOf(MapOf(2, 20'000), 5'000);
  EXPECT_LE(out.size(), 5'500u);
  EXPECT_NE(out.find("\"measure\":\"own_ns\",\"rank\":{\"n\":0"), std::string::npos);
}

}  // namespace
}  // namespace opscope

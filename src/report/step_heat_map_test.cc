// Joined cells beside a walk over all durations, and the limits of their number.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/step_heat_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

namespace opscope {
namespace {

using Cell = StepHeatMap::Cell;

// A cell per rank and step; a fifth of them has no duration.
StepHeatMap RandomMap(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return static_cast<size_t>(random() % n); };
  StepHeatMap map;
  map.ranks.resize(1 + below(12));
  map.steps.resize(below(14));
  std::iota(map.ranks.begin(), map.ranks.end(), int64_t{100});
  std::iota(map.steps.begin(), map.steps.end(), int64_t{-3});
  for (size_t step = 0; step < map.steps.size(); ++step)
    map.median_ns.push_back(static_cast<int64_t>(below(4)));
  for (uint32_t rank = 0; rank < map.ranks.size(); ++rank) {
    for (uint32_t step = 0; step < map.steps.size(); ++step)
      map.cells.push_back(below(5) == 0 ? Cell() : Cell{1, rank, step, static_cast<int64_t>(below(9))});
  }
  return map;
}

auto PlaceOf(const StepHeatMap& map, const Cell& cell) {
  const double ratio =
      static_cast<double>(cell.duration_ns) / static_cast<double>(std::max<int64_t>(1, map.median_ns[cell.step]));
  return std::tuple(-ratio, cell.rank, cell.step, cell.duration_ns);
}

TEST(StepHeatMapTest, CellShowsTheLongestDurationInComparison) {
  StepHeatMap map{.ranks = {0, 1}, .steps = {7, 8}, .median_ns = {10, 100}, .cells = {}};
  map.cells = {{1, 0, 0, 11}, {1, 0, 1, 150}, {1, 1, 0, 14}, {1, 1, 1, 100}};
  const StepHeatMap one = Coarsened(map, 1);
  ASSERT_EQ(one.cells.size(), 1u);
  EXPECT_EQ(one.cells[0].durations, 4);
  EXPECT_EQ(one.cells[0].rank, 0u);
  EXPECT_EQ(one.cells[0].step, 1u);
  EXPECT_EQ(one.cells[0].duration_ns, 150);
}

TEST(StepHeatMapTest, JoinedCellsAreThoseOfAWalkOverAllDurations) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const StepHeatMap map = RandomMap(seed);
    StepHeatMap joined = map;
    // Step by step, as a page does that still does not fit.
    for (size_t most = 200; most > 0; most = most * 2 / 3) {
      joined = Coarsened(std::move(joined), most);
      ASSERT_LE(joined.cells.size(), most);
      ASSERT_EQ(joined.cells.size(), joined.Rows() * joined.CellsPerRow());
      for (size_t at = 0; at < joined.cells.size(); ++at) {
        const size_t row = at / joined.CellsPerRow(), column = at % joined.CellsPerRow();
        std::vector<Cell> inside;
        for (const Cell& cell : map.cells) {
          if (cell.durations > 0 && cell.rank / joined.ranks_per_cell == row &&
              cell.step / joined.steps_per_cell == column)
            inside.push_back(cell);
        }
        ASSERT_EQ(joined.cells[at].durations, static_cast<int64_t>(inside.size())) << "seed " << seed;
        if (inside.empty()) continue;
        const Cell& first = *std::min_element(inside.begin(), inside.end(), [&](const Cell& a, const Cell& b) {
          return PlaceOf(map, a) < PlaceOf(map, b);
        });
        ASSERT_EQ(PlaceOf(map, joined.cells[at]), PlaceOf(map, first)) << "seed " << seed;
      }
    }
  }
}

TEST(StepHeatMapTest, MapWithoutStepsStaysEmpty) {
  StepHeatMap map{.ranks = {0, 1, 2}, .steps = {}, .median_ns = {}, .cells = {}};
  const StepHeatMap joined = Coarsened(map, 1);
  EXPECT_TRUE(joined.cells.empty());
  EXPECT_EQ(joined.ranks.size(), 3u);
}

TEST(StepHeatMapTest, TenThousandRanksAndAThousandStepsFit) {
  StepHeatMap map{.ranks = std::vector<int64_t>(10'000),
                  .steps = std::vector<int64_t>(1'000),
                  .median_ns = std::vector<int64_t>(1'000, 5),
                  .ranks_per_cell = 20,
                  .steps_per_cell = 2,
                  .cells = std::vector<Cell>(size_t{500} * 500, Cell{40, 0, 0, 5})};
  const StepHeatMap joined = Coarsened(std::move(map), 20'000);
  EXPECT_LE(joined.cells.size(), 20'000u);
  EXPECT_GT(joined.cells.size(), 15'000u);
  int64_t durations = 0;
  for (const Cell& cell : joined.cells)
    durations += cell.durations;
  EXPECT_EQ(durations, 10'000'000);
}

}  // namespace
}  // namespace opscope

// The durations of a job's steps by ranks, as a picture of limited size: 10,000 ranks x 1,000 steps are 10 million
// durations, more than a screen has points.
//
//   opscope::StepHeatMap map = ...;                        // AnswerJobOverview (job_overview.h) has one
//   map = opscope::Coarsened(std::move(map), 100'000);     // for a page with less room
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

// The durations of a job's steps. Of many ranks or steps, neighbours share a cell.
struct StepHeatMap {
  // The (rank, step) of a cell that lasted longest in comparison with the median of its step. Of equal ones the lowest
  // rank counts, then the first step.
  struct Cell {
    // Number of durations in the cell; 0: its ranks lack its steps.
    int64_t durations = 0;
    // Indices in `ranks` and `steps`.
    uint32_t rank = 0, step = 0;
    int64_t duration_ns = 0;
  };
  // All ranks, and the numbers of all steps, ascending.
  std::vector<int64_t> ranks, steps;
  // By step: the median of its durations over the ranks.
  std::vector<int64_t> median_ns;
  // Numbers of neighbours in a cell; the last cells may have fewer.
  size_t ranks_per_cell = 1, steps_per_cell = 1;
  // Row by row; a row has CellsPerRow() cells.
  std::vector<Cell> cells;

  [[nodiscard]] size_t CellsPerRow() const { return (steps.size() + steps_per_cell - 1) / steps_per_cell; }
  [[nodiscard]] size_t Rows() const { return (ranks.size() + ranks_per_cell - 1) / ranks_per_cell; }
};

// The same with at most max_cells cells, as neighbours are joined. O(cells)
[[nodiscard]] StepHeatMap Coarsened(StepHeatMap map, size_t max_cells);

}  // namespace opscope

// Joins cells of a picture of steps by ranks. A mean would hide the one slow rank among twenty, so a cell shows the
// duration that is longest in comparison with the median of its step, and says whose it is. Then joining twice gives
// the same as joining once.
//
// Example: medians 10 and 100, rank 0 lasts 11 and 150, rank 1 lasts 14 and 100. The cell of both ranks and steps is
// that of rank 0 in the second step, because 150/100 > 14/10.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/step_heat_map.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace opscope {
namespace {

size_t JoinedCells(size_t count, size_t per_cell) {
  return (count + per_cell - 1) / per_cell;
}

double InComparison(const StepHeatMap& map, const StepHeatMap::Cell& cell) {
  return static_cast<double>(cell.duration_ns) / static_cast<double>(std::max<int64_t>(1, map.median_ns[cell.step]));
}

// Joins a cell with one that comes later in its row, or in a later row.
void JoinCell(const StepHeatMap& map, const StepHeatMap::Cell& other, StepHeatMap::Cell* cell) {
  if (other.durations == 0) return;
  const int64_t durations = SaturatingAdd(cell->durations, other.durations);
  if (cell->durations == 0) {
    *cell = other;
  } else {
    const double before = InComparison(map, *cell), now = InComparison(map, other);
    const bool is_first = std::pair(other.rank, other.step) < std::pair(cell->rank, cell->step);
    if (now > before || (now == before && is_first)) *cell = other;
  }
  cell->durations = durations;
}

}  // namespace

StepHeatMap Coarsened(StepHeatMap map, size_t max_cells) {
  const size_t rows = map.Rows(), columns = map.CellsPerRow();
  size_t down = 1, across = 1;
  // The longer side first, so that the picture keeps its form.
  while (JoinedCells(rows, down) * JoinedCells(columns, across) > std::max<size_t>(1, max_cells)) {
    size_t* const side = JoinedCells(rows, down) > JoinedCells(columns, across) ? &down : &across;
    ++*side;
  }
  if (down == 1 && across == 1) return map;
  StepHeatMap joined{.ranks = {}, .steps = {}, .median_ns = {}, .cells = {}};
  const size_t new_columns = JoinedCells(columns, across);
  joined.cells.resize(JoinedCells(rows, down) * new_columns);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column)
      JoinCell(map, map.cells[row * columns + column], &joined.cells[row / down * new_columns + column / across]);
  }
  joined.ranks_per_cell = map.ranks_per_cell * down;
  joined.steps_per_cell = map.steps_per_cell * across;
  joined.ranks = std::move(map.ranks);
  joined.steps = std::move(map.steps);
  joined.median_ns = std::move(map.median_ns);
  return joined;
}

}  // namespace opscope

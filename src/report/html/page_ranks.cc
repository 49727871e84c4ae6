// The member "ranks" of a page: facts of a job, which of its ranks the timeline has, and the durations of the steps by
// ranks. A page with little room joins neighbours of the picture until it fits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "opscope/report/step_heat_map.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

template <typename Number>
void AppendNumbers(const std::vector<Number>& numbers, IntegerColumn::Kind kind, std::string* out) {
  IntegerColumn column(kind);
  for (const Number number : numbers)
    column.Add(number);
  column.AppendJson(out);
}

// A value per cell that has durations.
template <typename Value>
void AppendCellValues(const StepHeatMap& map, const Value& value, std::string* out) {
  IntegerColumn column;
  for (size_t cell = 0; cell < map.cells.size(); ++cell)
    if (map.cells[cell].durations > 0) column.Add(value(cell));
  column.AppendJson(out);
}

void AppendHeatMap(const StepHeatMap& map, std::string_view measure, std::string* out) {
  using Cell = StepHeatMap::Cell;
  JsonObject object(out);
  object.Text("measure", measure);
  AppendNumbers(map.ranks, IntegerColumn::kDeltas, &object.Key("rank"));
  AppendNumbers(map.steps, IntegerColumn::kDeltas, &object.Key("step"));
  AppendNumbers(map.median_ns, IntegerColumn::kValues, &object.Key("median_ns"));
  object.Uint("ranks_per_cell", map.ranks_per_cell).Uint("steps_per_cell", map.steps_per_cell);
  JsonObject cells(&object.Key("cells"));
  IntegerColumn durations;
  for (const Cell& cell : map.cells)
    durations.Add(cell.durations);
  durations.AppendJson(&cells.Key("durations"));
  const size_t columns = std::max<size_t>(1, map.CellsPerRow());
  AppendCellValues(
      map, [&](size_t i) { return map.cells[i].rank - i / columns * map.ranks_per_cell; }, &cells.Key("rank"));
  AppendCellValues(
      map, [&](size_t i) { return map.cells[i].step - i % columns * map.steps_per_cell; }, &cells.Key("step"));
  AppendCellValues(
      map, [&](size_t i) { return map.cells[i].duration_ns - map.median_ns[map.cells[i].step]; },
      &cells.Key("over_median_ns"));
  cells.Close();
  object.Close();
}

// Joined until it takes at most max_bytes. If the names of the steps and their medians alone take more, it is empty.
void AppendFittingHeatMap(const StepHeatMap& whole, std::string_view measure, size_t max_bytes, std::string* out) {
  constexpr size_t kBytesPerCell = 3;  // at least
  StepHeatMap map = Coarsened(whole, std::max<size_t>(1, max_bytes / kBytesPerCell));
  for (;;) {
    std::string picture;
    AppendHeatMap(map, measure, &picture);
    if (picture.size() <= max_bytes) {
      *out += picture;
      return;
    }
    if (map.cells.size() <= 1) return AppendHeatMap({}, measure, out);
    const size_t fits = map.cells.size() * std::min(max_bytes, picture.size()) / picture.size();
    const size_t max_cells = std::max<size_t>(1, std::min(fits, map.cells.size() - 1));
    map = Coarsened(std::move(map), max_cells);
  }
}

}  // namespace

void AppendPageRanks(const PageResults& results, size_t max_bytes, std::string* out) {
  const JobOverview& job = *results.job;
  JsonObject object(out);
  object.Int("attempt", job.attempt).Int("world_size", job.world_size).Uint("count", job.rank_of_row.size());
  AppendNumbers(job.attempts, IntegerColumn::kDeltas, &object.Key("attempts"));
  AppendNumbers(job.missing_ranks, IntegerColumn::kDeltas, &object.Key("missing_ranks"));
  object.Members(job.stragglers.facts_json).Members(job.critical_ranks.facts_json);
  AppendNumbers(PageRanksWithSpans(*results.trace), IntegerColumn::kDeltas, &object.Key("in_timeline"));
  object.Key("step_maps").append("[");
  AppendFittingHeatMap(job.steps, "duration_ns", max_bytes / 2, out);
  *out += ',';
  AppendFittingHeatMap(job.steps_without_waiting, "own_ns", max_bytes / 2, out);
  *out += ']';
  object.Close();
}

}  // namespace opscope

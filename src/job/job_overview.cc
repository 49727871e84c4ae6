// The durations of a job's steps as pictures of limited size, and which ranks a page shows in its timeline.
//
// The engine reduces the durations to cells (step_cells.sql); pages with less room join cells further, by the same rule
// (src/report/step_heat_map.cc).
//
// Example: of 10,000 ranks with 30,000 spans each, a page that may hold 20 million spans shows 666: the stragglers, the
// ranks on the critical path, and the lowest others.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/job_overview.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/assign.h"
#include "job/job_overview_parts.h"

namespace opscope {
namespace {

// Points of a picture that fills a screen.
constexpr size_t kMaxCellsAcross = 512;

size_t CellsFor(size_t count, size_t per_cell) {
  return (count + per_cell - 1) / per_cell;
}

// "3,17" as numbers.
std::vector<int32_t> NumbersOf(const std::string& list) {
  std::vector<int32_t> numbers;
  const char *at = list.data(), *const end = at + list.size();
  while (at < end) {
    int32_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = behind + 1;
  }
  return numbers;
}

}  // namespace

std::vector<int32_t> RanksToShow(const JobOverview& overview, uint64_t max_spans) {
  uint64_t all = 0;
  for (const uint64_t spans : overview.spans_of_row)
    all += std::min(spans, UINT64_MAX - all);
  if (all <= max_spans) return {};
  std::vector<int32_t> wanted;
  for (const JobOverview::Straggler& straggler : overview.straggler_of_row)
    if (!straggler.ranks.empty()) wanted.push_back(straggler.ranks[0]);
  wanted.insert(wanted.end(), overview.critical_rank_of_row.begin(), overview.critical_rank_of_row.end());
  wanted.insert(wanted.end(), overview.rank_of_row.begin(), overview.rank_of_row.end());
  std::set<int32_t> chosen;
  uint64_t spans = 0;
  for (const int32_t rank : wanted) {
    const auto row = std::lower_bound(overview.rank_of_row.begin(), overview.rank_of_row.end(), rank);
    if (row == overview.rank_of_row.end() || *row != rank || chosen.contains(rank)) continue;
    const uint64_t more = overview.spans_of_row[static_cast<size_t>(row - overview.rank_of_row.begin())];
    if (!chosen.empty() && more > max_spans - std::min(max_spans, spans)) break;
    spans += std::min(more, UINT64_MAX - spans);
    chosen.insert(rank);
  }
  return {chosen.begin(), chosen.end()};
}

void ReadRankRows(const RowValues& rows, JobOverview* overview) {
  for (size_t row = 0; row < rows.size(); ++row) {
    overview->rank_of_row.push_back(static_cast<int32_t>(rows.Integer(row, "rank").value_or(-1)));
    overview->spans_of_row.push_back(
        static_cast<uint64_t>(std::max<int64_t>(0, rows.Integer(row, "spans").value_or(0))));
  }
}

void ReadStragglerRows(const RowValues& rows, JobOverview* overview) {
  for (size_t row = 0; row < rows.size(); ++row) {
    overview->straggler_of_row.push_back(
        {NumbersOf(rows.NumberList(row, "ranks")), rows.Integer(row, "first_step").value_or(0)});
  }
}

void ReadCriticalPath(const CriticalRanks& path, JobOverview* overview) {
  for (const CriticalRanks::Rank& row : path.ranks)
    overview->critical_rank_of_row.push_back(row.rank);
  for (const CriticalRanks::Step& row : path.steps)
    overview->critical_step_of_row.push_back({row.step, row.rank});
}

namespace {

Result<RowValues> RunStepFile(JobSqlRunner* sql, const std::string& file) {
  OPSCOPE_ASSIGN(const JobRows rows, sql->Run(file));
  return RowValues::Parse(rows);
}

Status ReadCells(JobSqlRunner* sql, bool is_own, StepHeatMap* map) {
  sql->Set("is_own", is_own ? 1 : 0);
  OPSCOPE_ASSIGN(const RowValues cells, RunStepFile(sql, "step_cells.sql"));
  map->cells.resize(map->Rows() * map->CellsPerRow());
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto number = [&](std::string_view column) { return cells.Integer(i, column).value_or(-1); };
    const auto y = static_cast<uint64_t>(number("y")), x = static_cast<uint64_t>(number("x"));
    const auto rank = static_cast<uint64_t>(number("ri")), step = static_cast<uint64_t>(number("si"));
    if (y >= map->Rows() || x >= map->CellsPerRow() || rank >= map->ranks.size() || step >= map->steps.size()) continue;
    map->cells[y * map->CellsPerRow() + x] = {number("durations"), static_cast<uint32_t>(rank),
                                              static_cast<uint32_t>(step), number("duration_ns")};
  }
  return {};
}

}  // namespace

Status MeasureStepHeatMaps(JobSqlRunner* sql, JobOverview* overview) {
  OPSCOPE_ASSIGN(const RowValues medians, RunStepFile(sql, "step_medians.sql"));
  const Result<RowValues> ranks = RunStepFile(sql, "critical_rank_bounds.sql");  // all ranks, in order of `ri`
  if (!ranks.ok()) return ranks.error();
  for (const bool is_own : {false, true}) {
    StepHeatMap& map = is_own ? overview->steps_without_waiting : overview->steps;
    for (size_t row = 0; row < medians.size(); ++row) {
      const std::string_view median = is_own ? "own_median_ns" : "median_ns";
      map.steps.push_back(medians.Integer(row, "step").value_or(0));
      map.median_ns.push_back(medians.Integer(row, median).value_or(0));
    }
    for (size_t row = 0; row < ranks.value().size(); ++row)
      map.ranks.push_back(ranks.value().Integer(row, "rank").value_or(-1));
    map.ranks_per_cell = std::max<size_t>(1, CellsFor(map.ranks.size(), kMaxCellsAcross));
    map.steps_per_cell = std::max<size_t>(1, CellsFor(map.steps.size(), kMaxCellsAcross));
    sql->Set("ranks_per_cell", static_cast<int64_t>(map.ranks_per_cell));
    sql->Set("steps_per_cell", static_cast<int64_t>(map.steps_per_cell));
    OPSCOPE_TRY(ReadCells(sql, is_own, &map));
  }
  return {};
}

}  // namespace opscope

// What became of each input of a merge: for people, as CSV, and "opscope.merge/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "base/shown_text.h"
#include "opscope/report/info.h"
#include "opscope/report/merge.h"
#include "opscope/report/quality.h"
#include "report/human_units.h"
#include "report/row_table.h"
#include "report/text_table.h"

namespace opscope {
namespace {

using Cells = std::vector<std::string>;

Cells CellsOf(const MergedInput& input) {
  const std::string rank = input.rank < 0 ? "-" : std::to_string(input.rank) + (input.rank_is_from_name ? "*" : "");
  if (!input.left_out.empty()) return {rank, input.name, "-", "left out", "-", "-", "-", "-"};
  const bool has_points = input.sync_points > 0;
  std::string clock(ClockSourceName(input.clock));
  std::replace(clock.begin(), clock.end(), '_', ' ');
  return {rank,
          input.name,
          std::to_string(input.spans),
          clock,
          HumanTime(input.offset_ns),
          FixedText(input.drift * 1e6, 2) + " ppm",
          has_points ? std::to_string(input.sync_points) : "-",
          has_points ? HumanTime(input.residual_p99_ns) : "-"};
}

// What was not asked of the collectives, and why.
std::string NoteOnSharedClocks(const Merged& merged) {
  int64_t bound_ns = -1, residual_ns = 0;
  std::string files;
  for (const MergedInput& input : merged.inputs) {
    if (!input.left_out.empty() || !input.refused_fit) continue;
    bound_ns = std::max(bound_ns, input.wall_bound_ns);
    residual_ns = std::max(residual_ns, input.refused_fit->residual_p99_ns);
    files += (files.empty() ? "" : ", ") + Shown(input.name);
  }
  if (files.empty()) return {};
  return "One machine has one wall clock" + (bound_ns < 0 ? "" : " (within " + HumanTime(bound_ns) + ")") +
         "; a fit through collectives (residual up to " + HumanTime(residual_ns) + ") was not used: " + files + "\n";
}

}  // namespace

std::string FormatMerge(const Merged& merged, size_t width) {
  std::vector<TextColumn> columns;
  for (const char* title : {"Rank", "File", "Spans", "Clock", "Offset", "Drift", "Points", "Residual p99"})
    columns.emplace_back().title = title;
  columns[1].is_text = columns[3].is_text = true;
  bool has_guess = false;
  for (const MergedInput& input : merged.inputs) {
    const Cells cells = CellsOf(input);
    for (size_t i = 0; i < cells.size(); ++i)
      columns[i].cells.push_back(cells[i]);
    has_guess |= input.rank_is_from_name;
  }
  std::string text = LayOutTable(std::move(columns), width);
  if (has_guess) text += "* from the name of the file\n";
  return text + FoldLines(NoteOnSharedClocks(merged), width);
}

std::string MergeJson(const Merged& merged, const Quality& quality) {
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.merge/1");
  object.Uint("world_size", merged.world_size);
  object.Key("inputs");
  out += '[';
  for (const MergedInput& input : merged.inputs) {
    out += &input == merged.inputs.data() ? "\n" : ",\n";
    out += MergedInputJson(input);
  }
  out += "\n]";
  object.Key("problems");
  out += ProblemsJson(merged.trace);
  object.Key("quality");
  out += QualityJson(quality);
  object.Close();
  return out + "\n";
}

std::string MergeCsv(const Merged& merged) {
  RowTable rows;
  const auto texts = [&](const char* key, auto text) {
    std::vector<std::string>& column = rows.Add(key, "", RowUnit::kText).texts;
    for (const MergedInput& input : merged.inputs)
      column.emplace_back(text(input));
  };
  const auto numbers = [&](const char* key, auto number) {
    std::vector<int64_t>& column = rows.Add(key, "", RowUnit::kNumber).numbers;
    for (const MergedInput& input : merged.inputs)
      column.push_back(static_cast<int64_t>(number(input)));
  };
  texts("file", [](const MergedInput& input) { return input.name; });
  numbers("rank", [](const MergedInput& input) { return input.rank; });
  texts("left_out", [](const MergedInput& input) { return input.left_out; });
  numbers("spans", [](const MergedInput& input) { return input.spans; });
  texts("clock", [](const MergedInput& input) { return ClockSourceName(input.clock); });
  numbers("offset_ns", [](const MergedInput& input) { return input.offset_ns; });
  numbers("drift_ppb", [](const MergedInput& input) { return std::llround(input.drift * 1e9); });
  numbers("sync_points", [](const MergedInput& input) { return input.sync_points; });
  numbers("residual_p50_ns", [](const MergedInput& input) { return input.residual_p50_ns; });
  numbers("residual_p99_ns", [](const MergedInput& input) { return input.residual_p99_ns; });
  numbers("wall_bound_ns", [](const MergedInput& input) { return input.wall_bound_ns; });
  numbers("refused_residual_p99_ns",
          [](const MergedInput& input) { return input.refused_fit ? input.refused_fit->residual_p99_ns : -1; });
  return rows.Csv(0);
}

}  // namespace opscope

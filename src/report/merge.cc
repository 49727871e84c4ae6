// What became of each input of a merge: the columns of `opscope merge`, and "opscope.merge/1". A clock is described in
// words, for example as aligned by collectives with an offset and a drift, or as left alone with the reason.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/merge.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/escaped_text.h"
#include "base/json_object.h"
#include "opscope/report/merge.h"
#include "opscope/report/quality.h"
#include "report/human_units.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// Unknown for inputs that are not in the result.
template <typename T>
std::optional<T> IfTaken(const MergedInput& input, T value, bool has_value = true) {
  if (!input.left_out.empty() || !has_value) return std::nullopt;
  return value;
}

std::optional<int64_t> OfRefusedFit(const MergedInput& input, int64_t (*value)(const RefusedFit& fit)) {
  if (!input.left_out.empty() || !input.refused_fit) return std::nullopt;
  return value(*input.refused_fit);
}

// "wall clock", "left out"
std::string ClockInWords(const MergedInput& input) {
  if (!input.left_out.empty()) return "left out";
  std::string words(ClockSourceName(input.clock));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

constexpr ResultField<MergedInput> kMergeFields[] = {
    {{"file", "", kText, "Name of the input."}, [](const MergedInput& i) { return i.name; }},
    {{"rank", "", kNumber, "Rank of the input; unknown, too, if it has several."},
     [](const MergedInput& i) { return i.rank < 0 ? std::nullopt : std::optional(i.rank); }},
    {{"rank_from", "", kOptionalText, "What says the rank: `metadata` or `file_name`."},
     [](const MergedInput& i) { return i.rank < 0            ? ""
                                       : i.rank_is_from_name ? "file_name"
                                                             : "metadata"; }},
    {{"", "Rank", kFigure},
     [](const MergedInput& i) {
       return i.rank < 0 ? std::string() : std::to_string(i.rank) + (i.rank_is_from_name ? "*" : "");
     }},
    {{"", "File", kText}, [](const MergedInput& i) { return i.name; }},
    {{"left_out", "", kOptionalText, "Why the input is not in the result; the fields below are unknown then."},
     [](const MergedInput& i) { return i.left_out; }},
    {{"spans", "Spans", kNumber, "Number of its spans."}, [](const MergedInput& i) { return IfTaken(i, i.spans); }},
    {{"clock", "", kOptionalText,
      "How its times were brought to the reference's: `reference`, `collectives`, `wall_clock` or `none`."},
     [](const MergedInput& i) { return i.left_out.empty() ? ClockSourceName(i.clock) : std::string_view(); }},
    {{"", "Clock", kText}, [](const MergedInput& i) { return ClockInWords(i); }},
    {{"offset_ns", "Offset", kTime, "Time added to its wall clock, at its first span."},
     [](const MergedInput& i) { return IfTaken(i, i.offset_ns); }},
    {{"drift_ppb", "", kNumber, "Nanoseconds added per second since then."},
     [](const MergedInput& i) { return IfTaken(i, std::llround(i.drift * 1e9)); }},
    {{"", "Drift", kFigure}, [](const MergedInput& i) { return IfTaken(i, FixedText(i.drift * 1e6, 2) + " ppm"); }},
    {{"sync_points", "", kNumber, "Ends of collectives that its clock was fitted to."},
     [](const MergedInput& i) { return IfTaken(i, i.sync_points); }},
    {{"", "Points", kNumber}, [](const MergedInput& i) { return IfTaken(i, i.sync_points, i.sync_points > 0); }},
    {{"residual_p50_ns", "", kTime,
      "Half of the sync points are at most this far apart after the fit; unknown without sync points."},
     [](const MergedInput& i) { return IfTaken(i, i.residual_p50_ns, i.sync_points > 0); }},
    {{"residual_p99_ns", "Residual p99", kTime, "99 of 100 sync points are at most this far apart after the fit."},
     [](const MergedInput& i) { return IfTaken(i, i.residual_p99_ns, i.sync_points > 0); }},
    {{"wall_bound_ns", "", kTime, "Largest error of its wall clock against the ranks of its machine."},
     [](const MergedInput& i) { return IfTaken(i, i.wall_bound_ns, i.wall_bound_ns >= 0); }},
    {{"refused_offset_ns", "", kTime,
      "Offset of a fit that was not used; unknown, as the two below, if there was none."},
     [](const MergedInput& i) { return OfRefusedFit(i, [](const RefusedFit& fit) { return fit.offset_ns; }); }},
    {{"refused_drift_ppb", "", kNumber, "Its drift."},
     [](const MergedInput& i) {
       return OfRefusedFit(i, [](const RefusedFit& fit) { return int64_t{std::llround(fit.drift * 1e9)}; });
     }},
    {{"refused_residual_p99_ns", "", kTime, "Its residual."},
     [](const MergedInput& i) { return OfRefusedFit(i, [](const RefusedFit& fit) { return fit.residual_p99_ns; }); }},
};

constexpr ResultField<MergedProcess> kProcessFields[] = {
    {{"pid", "", kNumber, "Number of the process in the result."}, [](const MergedProcess& p) { return p.pid; }},
    {{"rank", "", kNumber, "Its rank."},
     [](const MergedProcess& p) { return p.rank < 0 ? std::nullopt : std::optional(p.rank); }},
};

// What was not asked of the collectives, and why.
std::string DescribeSharedClocks(const Merged& merged) {
  int64_t bound_ns = -1, residual_ns = 0;
  std::string files;
  for (const MergedInput& input : merged.inputs) {
    if (!input.left_out.empty() || !input.refused_fit) continue;
    bound_ns = std::max(bound_ns, input.wall_bound_ns);
    residual_ns = std::max(residual_ns, input.refused_fit->residual_p99_ns);
    files += (files.empty() ? "" : ", ") + EscapedText(input.name);
  }
  if (files.empty()) return {};
  return "One machine has one wall clock" + (bound_ns < 0 ? "" : " (within " + HumanTime(bound_ns) + ")") +
         "; a fit through collectives (residual up to " + HumanTime(residual_ns) + ") was not used: " + files + "\n";
}

}  // namespace

const ResultDescription& MergeResult() {
  static const ResultDescription description =
      DescribeResult<MergedInput>("merge", "inputs", "An input of the merge.", kMergeFields);
  return description;
}

ResultTable MergeTable(const Merged& merged) {
  return MakeResultTable<MergedInput>(MergeResult(), kMergeFields, merged.trace, merged.inputs);
}

std::string FormatMerge(const Merged& merged, size_t width) {
  std::string text = MergeTable(merged).Text(0, width);
  const auto is_guess = [](const MergedInput& input) { return input.rank_is_from_name; };
  if (std::any_of(merged.inputs.begin(), merged.inputs.end(), is_guess)) text += "* from the name of the file\n";
  return text + WrapLines(DescribeSharedClocks(merged), width);
}

const ResultDescription& MergedProcessResult() {
  static const ResultDescription description =
      DescribeResult<MergedProcess>("merge", "processes", "A process of an input, in its row.", kProcessFields);
  return description;
}

std::string MergeJson(const Merged& merged, const Quality& quality) {
  std::vector<MergedProcess> processes;
  std::vector<uint32_t> first = {0};
  for (const MergedInput& input : merged.inputs) {
    processes.insert(processes.end(), input.processes.begin(), input.processes.end());
    first.push_back(static_cast<uint32_t>(processes.size()));
  }
  VerbResult result;
  result.tables = {MergeTable(merged)};
  result.tables[0].Nest(MakeResultTable<MergedProcess>(MergedProcessResult(), kProcessFields, merged.trace, processes),
                        first);
  JsonMemberWriter(&result.facts_json)
      .Json("world_size", merged.world_size == 0 ? "null" : std::to_string(merged.world_size));
  result.quality = quality;
  return ResultJson(result, merged.trace);
}

}  // namespace opscope

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
#include "opscope/report/info.h"
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

// "wall clock", "left out"
std::string ClockInWords(const MergedInput& input) {
  if (!input.left_out.empty()) return "left out";
  std::string words(ClockSourceName(input.clock));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

constexpr ResultField<MergedInput> kMergeFields[] = {
    {{"file", "", kText, "Name of the input."}, [](const MergedInput& i) { return i.name; }},
    {{"rank", "", kNumber, "Rank of the input; -1 if it is unknown or there are several."},
     [](const MergedInput& i) { return i.rank; }},
    {{"", "Rank", kFigure},
     [](const MergedInput& i) {
       return i.rank < 0 ? std::string() : std::to_string(i.rank) + (i.rank_is_from_name ? "*" : "");
     }},
    {{"", "File", kText}, [](const MergedInput& i) { return i.name; }},
    {{"left_out", "", kText, "Why the input is not in the result; empty if it is."},
     [](const MergedInput& i) { return i.left_out; }},
    {{"spans", "", kNumber, "Number of its spans."}, [](const MergedInput& i) { return i.spans; }},
    {{"", "Spans", kNumber}, [](const MergedInput& i) { return IfTaken(i, i.spans); }},
    {{"clock", "", kText,
      "How its times were brought to the reference's: `reference`, `collectives`, `wall_clock` or `none`."},
     [](const MergedInput& i) { return ClockSourceName(i.clock); }},
    {{"", "Clock", kText}, [](const MergedInput& i) { return ClockInWords(i); }},
    {{"offset_ns", "", kTime, "Time added to its wall clock, at its first span."},
     [](const MergedInput& i) { return i.offset_ns; }},
    {{"", "Offset", kTime}, [](const MergedInput& i) { return IfTaken(i, i.offset_ns); }},
    {{"drift_ppb", "", kNumber, "Nanoseconds added per second since then."},
     [](const MergedInput& i) { return std::llround(i.drift * 1e9); }},
    {{"", "Drift", kFigure}, [](const MergedInput& i) { return IfTaken(i, FixedText(i.drift * 1e6, 2) + " ppm"); }},
    {{"sync_points", "", kNumber, "Ends of collectives that its clock was fitted to."},
     [](const MergedInput& i) { return i.sync_points; }},
    {{"", "Points", kNumber}, [](const MergedInput& i) { return IfTaken(i, i.sync_points, i.sync_points > 0); }},
    {{"residual_p50_ns", "", kTime, "Half of the sync points are at most this far apart after the fit."},
     [](const MergedInput& i) { return i.residual_p50_ns; }},
    {{"residual_p99_ns", "", kTime, "99 of 100 sync points are at most this far apart after the fit."},
     [](const MergedInput& i) { return i.residual_p99_ns; }},
    {{"", "Residual p99", kTime},
     [](const MergedInput& i) { return IfTaken(i, i.residual_p99_ns, i.sync_points > 0); }},
    {{"wall_bound_ns", "", kTime, "Largest error of its wall clock against the ranks of its machine; -1 if unknown."},
     [](const MergedInput& i) { return i.wall_bound_ns; }},
    {{"refused_residual_p99_ns", "", kTime, "Residual of a fit that was not used; -1 if there was none."},
     [](const MergedInput& i) { return i.refused_fit ? i.refused_fit->residual_p99_ns : -1; }},
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

}  // namespace opscope

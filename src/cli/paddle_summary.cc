// The options of `opscope summary --style paddle` and its text. They are checked here and not by the parser, because
// they are allowed only with that style.
// SPDX-License-Identifier: Apache-2.0
#include "cli/paddle_summary.h"

#include <algorithm>

#include "opscope/paddle/layers.h"
#include "opscope/paddle/node_trees.h"
#include "opscope/paddle/statistics.h"

namespace opscope {
namespace {

// Names by enumerator of PaddleView.
constexpr const char* kViews[] = {
    "device", "overview", "model", "distributed", "kernel", "operator", "memory", "memory-manipulation", "udf"};

}  // namespace

void AddPaddleSummaryOptions(Verb* verb, PaddleSummaryOptions* options) {
  verb->Add({.names = {"--views"},
             .target = &options->views,
             .description = "with --style paddle: only these tables; several with commas",
             .choices = {std::begin(kViews), std::end(kViews)},
             .delimiter = ','});
  verb->Add({"--thread-sep"}, &options->thread_sep,
            "with --style paddle: operators and ranges of each thread by themselves");
  verb->Add({"--no-op-detail"}, &options->no_op_detail, "with --style paddle: operators without what they are made of");
  verb->Add({.names = {"--time-unit"},
             .target = &options->time_unit,
             .description = "with --style paddle: of all times; ms if not given",
             .choices = {"s", "ms", "us", "ns"}});
  verb->Add({"--with-flops"}, &options->with_flops,
            "with --style paddle: behind the tables, the layers with their floating-point operations");
}

Status ReadPaddleSummaryOptions(const std::string& style, const std::string& sort, PaddleSummaryOptions* options) {
  if (style != "paddle") {
    const char* const given = !options->views.empty()       ? "--views"
                              : options->thread_sep         ? "--thread-sep"
                              : options->no_op_detail       ? "--no-op-detail"
                              : !options->time_unit.empty() ? "--time-unit"
                              : options->with_flops         ? "--with-flops"
                                                            : nullptr;
    if (given == nullptr) return {};
    return Error{ErrorCode::kInvalidArgument, std::string(given) + ": only with --style paddle"};
  }
  PaddleTableOptions& table = options->table;
  if (!options->views.empty()) {
    table.views = 0;
    for (const std::string& view : options->views)  // parsing accepts known names only
      table.views |= 1u << (std::find(std::begin(kViews), std::end(kViews), view) - std::begin(kViews));
  }
  if (!sort.empty()) {
    const auto names = PaddleSortNames();
    const auto found = std::find(names.begin(), names.end(), sort);
    if (found == names.end()) {
      std::string message = "--sort: Paddle's tables have no \"" + sort + "\"; there are:";
      for (const std::string_view name : names)
        message.append(" ").append(name);
      return Error{ErrorCode::kInvalidArgument, message};
    }
    table.sorted_by = static_cast<PaddleSort>(found - names.begin());
  }
  table.op_detail = !options->no_op_detail;
  table.thread_sep = options->thread_sep;
  if (!options->time_unit.empty()) table.time_unit = options->time_unit;
  table.is_escaped = true;
  return {};
}

std::string PaddleSummaryText(const Trace& trace, const PaddleSummaryOptions& options) {
  const PaddleNodeTrees trees = BuildPaddleNodeTrees(trace);
  std::string text = FormatPaddleSummary(trace, ComputePaddleStatistics(trace, trees), options.table) + "\n";
  if (options.with_flops) text += FormatPaddleFlops(FindPaddleLayers(trace, trees)) + "\n";
  return text;
}

}  // namespace opscope

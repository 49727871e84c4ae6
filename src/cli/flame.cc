// `opscope flame`: a flame graph as SVG, or folded stacks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <memory>
#include <optional>
#include <utility>

#include "cli/exit_code.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct FlameOptions {
  CommonOptions common;
  std::string output = "-";
  std::string metric = "time";
  std::string title;
  double width = FlameSvgOptions().width;
  bool inverted = false;
  bool merge_threads = false;
  SelectionOptions selection;
  std::optional<SpanFilter> filter;  // read from `selection`
};

std::string NameWithoutFolder(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

int Flame(const Trace& trace, const std::string& file, const FlameOptions& options) {
  const SelectedSpans selected(options.filter, trace);
  FoldOptions fold;
  if (options.merge_threads) fold.threads = ThreadNodes::kNever;
  fold.selected = selected.get();
  const FlameTree tree = FoldSpans(trace, *FlameMetricFromName(options.metric), fold);
  if (!options.output.ends_with(".svg")) {
    const std::string text = FoldedStacks(tree);
    return ExitFor(options.output == "-" ? WriteStandardOutput(text) : WriteReport(options.output, text));
  }
  FlameSvgOptions svg;
  svg.title = options.title.empty() ? NameWithoutFolder(file) + ": " + options.metric : options.title;
  svg.width = options.width;
  svg.inverted = options.inverted;
  return ExitFor(WriteReport(options.output, FlameGraphSvg(tree, svg)));
}

int RunFlame(FlameOptions* options) {
  Result<std::optional<SpanFilter>> filter = ReadSelection(options->selection);
  if (!filter.ok()) return UsageError("flame: " + filter.error().message);
  options->filter = std::move(filter).value();
  return ForEachInput(options->common,
                      [&](const Trace& trace, const std::string& file) { return Flame(trace, file, *options); });
}

}  // namespace

Verb AddFlameVerb(CLI::App* root) {
  auto options = std::make_shared<FlameOptions>();
  CLI::App* app = root->add_subcommand("flame", "a flame graph: what called what, and what it took");
  AddCommonOptions(app, &options->common);
  app->get_option("FILE")->expected(1);
  app->add_option(
         "-o,--output", options->output,
         "NAME.svg: a graph to open in a browser (click: zoom, Ctrl-F: search); any other name, or - for standard "
         "output: folded stacks, for flamegraph.pl and others")
      ->capture_default_str();
  app->add_option("--metric", options->metric, "time, device_time, memory, flops or count")
      ->check(CLI::IsMember({"time", "device_time", "memory", "flops", "count"}))
      ->capture_default_str();
  app->add_option("--title", options->title, "of the graph (default: the file and the metric)");
  app->add_option("--width", options->width, "of the graph, in pixels")
      ->check(CLI::Range(200.0, 20000.0))
      ->capture_default_str();
  app->add_flag("--merge-threads", options->merge_threads, "what several threads did alike is one path");
  app->add_flag("--inverted", options->inverted, "the root above, as an icicle");
  AddSelectionOptions(app, &options->selection);
  return {app, [options] { return RunFlame(options.get()); }};
}

}  // namespace opscope

// `opscope flame`: a flame graph as SVG, or folded stacks, by the extension of the output file.
//
// An empty graph is not written: the message says why it is empty, for example because the filter selects no span.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <memory>
#include <optional>
#include <utility>

#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/result_options.h"
#include "cli/selection.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "opscope/export.h"
#include "opscope/report.h"

namespace opscope {
namespace {

struct FlameOptions {
  CommonOptions common;
  std::string output = "-";
  FlameFile file = FlameFile::kFoldedStacks;  // kind of `output`
  std::string metric = "time";
  std::string title;
  double width = FlameSvgOptions().width;
  bool inverted = false;
  bool merge_threads = false;
  SelectionOptions selection;
  std::optional<SpanFilter> filter;  // parsed from `selection`
};

// Parsing accepts known names only.
FlameMetric MetricOf(const FlameOptions& options) {
  return FlameMetricFromName(options.metric).value_or(FlameMetric::kTime);
}

std::string NameWithoutFolder(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string WhyEmpty(const Trace& trace, const FlameOptions& options) {
  if (std::string nothing = DescribeEmptySelection(trace, options.filter); !nothing.empty()) return nothing;
  switch (MetricOf(options)) {
    case FlameMetric::kDeviceTime:
      return "nothing in it ran on a device";
    case FlameMetric::kMemory:
      return "no memory of its spans was recorded; that takes profile_memory=True (torch, Paddle)";
    case FlameMetric::kFlops:
      return "no FLOPs of its spans are known; that takes operators of torch and record_shapes=True";
    case FlameMetric::kTime:
    case FlameMetric::kCount:
      break;
  }
  return "none of its spans took time on a thread";
}

int Flame(const Trace& trace, const std::string& file, const FlameOptions& options) {
  const SelectedSpans selected(options.filter, trace);
  FoldOptions fold;
  if (options.merge_threads) fold.threads = ThreadNodes::kNever;
  fold.selected = selected.get();
  const FlameTree tree = FoldSpans(trace, MetricOf(options), fold);
  if (tree.nodes[0].total == 0) ReportNoResult(file, options.common, WhyEmpty(trace, options));
  if (options.output == "-") {
    Status written;
    FoldedStacks(tree, [&](std::string_view piece) {
      if (written.ok()) written = WriteStandardOutput(piece);
    });
    return ExitFor(written);
  }
  FlameSvgOptions svg;
  svg.title = options.title.empty() ? NameWithoutFolder(file) + ": " + options.metric : options.title;
  svg.note = FormatQuality(JudgeQuality(trace));
  svg.width = options.width;
  svg.inverted = options.inverted;
  return ExitFor(WriteText(options.output, FlameFileText(tree, options.file, svg)));
}

int RunFlame(FlameOptions* options) {
  Result<std::optional<SpanFilter>> filter = ReadSelection(options->selection);
  if (!filter.ok()) return UsageError("flame: " + filter.error().message);
  options->filter = std::move(filter).value();
  const Result<FlameFile> kind = FlameFileFromName(options->output);
  if (!kind.ok()) return UsageError("flame: --output: " + kind.error().message);
  options->file = kind.value();
  if (const int refused = RefuseInputAsOutput("flame", options->output, options->common.files)) return refused;
  return ForEachInput(options->common,
                      [&](const Trace& trace, const std::string& file) { return Flame(trace, file, *options); });
}

}  // namespace

Verb FlameVerb() {
  auto options = std::make_shared<FlameOptions>();
  Verb verb{.names = {"flame"}, .description = "a flame graph: what called what, and what it took", .run = [options] {
              return RunFlame(options.get());
            }};
  AddCommonOptions(&verb, &options->common, InputFiles::kOne);
  verb.Add({"-o", "--output"}, &options->output,
           "NAME.svg: a graph to open in a browser (click: zoom, Ctrl-F: search); NAME.folded, "
           ".collapsed, .txt, a name without an ending, or - for standard output: folded stacks, for "
           "flamegraph.pl and others; .gz and .zst behind it compress");
  verb.Add({.names = {"--metric"},
            .target = &options->metric,
            .description = "time, device_time, memory, flops or count",
            .choices = {"time", "device_time", "memory", "flops", "count"}});
  verb.Add({"--title"}, &options->title, "of the graph (default: the file and the metric)");
  verb.Add({.names = {"--width"},
            .target = &options->width,
            .description = "of the graph, in pixels",
            .least = 200,
            .most = 20000});
  verb.Add({"--merge-threads"}, &options->merge_threads, "what several threads did alike is one path");
  verb.Add({"--inverted"}, &options->inverted, "the root above, as an icicle");
  AddSelectionOptions(&verb, &options->selection);
  return verb;
}

}  // namespace opscope

// Computes what a page shows, each result once, and hands it to the writer of pages (src/report/html), which only
// writes. Works and modules are the operator summary of a part of the spans, so that their numbers are those of
// `summary`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export/html.h"

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "export/span_arguments.h"
#include "export/writers.h"
#include "opscope/export/output_file.h"
#include "opscope/torch/memory_timeline.h"

namespace opscope {
namespace {

// One entry per span: 1 if it is of one of these kinds, on devices if is_device.
std::vector<uint8_t> SpansOfKinds(const Trace& trace, std::initializer_list<SpanKind> kinds, bool is_device) {
  const SpanColumns& spans = trace.spans();
  std::vector<uint8_t> selected(spans.size(), 0);
  for (size_t row = 0; row < spans.size(); ++row) {
    const bool is_kind = std::find(kinds.begin(), kinds.end(), spans.kind[row]) != kinds.end();
    const bool is_on_device = trace.tracks().kind[Row(spans.track[row])] == TrackKind::kDeviceStream;
    selected[row] = is_kind && is_on_device == is_device ? 1 : 0;
  }
  return selected;
}

std::vector<FlameTree> TreesOf(const Trace& trace) {
  std::vector<FlameTree> trees;
  for (const FlameMetric metric :
       {FlameMetric::kTime, FlameMetric::kDeviceTime, FlameMetric::kMemory, FlameMetric::kFlops}) {
    FlameTree tree = FoldSpans(trace, metric, {.threads = ThreadNodes::kNever});
    if (metric == FlameMetric::kTime || tree.nodes[0].total > 0) trees.push_back(std::move(tree));
  }
  return trees;
}

template <typename Use>
auto UsePage(const Trace& trace, const HtmlExportOptions& options, const Use& use) {
  PageResults results;
  results.trace = &trace;
  results.title = options.title.empty() ? "trace" : options.title;
  results.files = options.files.empty() ? std::vector{results.title} : options.files;
  results.producer = "opscope " OPSCOPE_VERSION;
  results.quality = JudgeQuality(trace);
  results.window = WindowOfSpans(trace);
  results.steps = MeasureSteps(trace);
  results.devices = MeasureDevices(trace);
  results.advice = Advise(trace);
  results.operators = SummarizeOps(trace);
  const std::vector<uint8_t> works = SpansOfKinds(trace, {SpanKind::kKernel, SpanKind::kCopy, SpanKind::kSet}, true);
  results.works = SummarizeOps(trace, {.selected = &works});
  const std::vector<uint8_t> modules = SpansOfKinds(trace, {SpanKind::kModule}, false);
  results.modules = SummarizeOps(trace, {.selected = &modules});
  results.memory = MeasureMemoryUsage(trace);
  if (options.baseline != nullptr) results.diff = DiffTraces(*options.baseline, trace);
  results.trees = TreesOf(trace);
  const MemoryTimeline memory = trace.allocations().size() == 0 ? MemoryTimeline() : BuildMemoryTimeline(trace);
  results.memory_curves = MeasureMemoryCurves(trace, memory);
  results.memory_map = MapMemory(trace, memory);
  results.leaks = FindLeakCandidates(trace);
  results.flows = ListFlows(trace);
  const TimelineSpans timeline(trace);
  results.timeline = &timeline;
  results.append_arguments = SpanArguments(trace);
  return use(results);
}

}  // namespace

Result<std::string> HtmlText(const Trace& trace, const HtmlExportOptions& options) {
  if (options.page.max_bytes < PageOptions::kMinBytes)
    return Error{ErrorCode::kInvalidArgument, "a page has at least 1M bytes"};
  return CatchBadAlloc(options.title, [&]() -> Result<std::string> {
    return UsePage(trace, options, [&](const PageResults& results) { return HtmlPage(results, options.page); });
  });
}

Result<std::string> HtmlDataText(const Trace& trace, const HtmlExportOptions& options) {
  return CatchBadAlloc(options.title, [&]() -> Result<std::string> {
    return UsePage(trace, options,
                   [&](const PageResults& results) { return PageDocument(results, options.page.max_bytes); });
  });
}

void WriteHtml(const Trace& trace, const ExportOptions& options, ExportOutput* out) {
  const std::string& name = options.trace_name;
  const HtmlExportOptions how{.title = name.substr(name.rfind('/') + 1)};
  out->Write(UsePage(trace, how, [&](const PageResults& results) { return HtmlPage(results, how.page); }));
}

Status ExportHtml(const Trace& trace, const std::string& path, const HtmlExportOptions& options) {
  const Result<std::string> page = HtmlText(trace, options);
  if (!page.ok()) return page.error();
  return WriteBytes(path, page.value());
}

}  // namespace opscope

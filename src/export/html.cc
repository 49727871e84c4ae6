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
#include "opscope/analysis/modules.h"
#include "opscope/export/output_file.h"

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

void AddTrees(const Trace& trace, const Trace* baseline, PageResults* results) {
  for (const FlameMetric metric :
       {FlameMetric::kTime, FlameMetric::kDeviceTime, FlameMetric::kMemory, FlameMetric::kFlops}) {
    FlameTree tree = FoldSpans(trace, metric, {.threads = ThreadNodes::kNever});
    const bool has_values = metric == FlameMetric::kTime || tree.nodes[0].total > 0;
    if (baseline != nullptr) {
      const FlameTree base = FoldSpans(*baseline, metric, {.threads = ThreadNodes::kNever});
      if (has_values || base.nodes[0].total > 0) results->tree_diffs.push_back(DiffFlameTrees(tree, base));
    }
    if (has_values) results->trees.push_back(std::move(tree));
  }
}

// False: no span has the key, which is cheaper to find out than the summary.
bool MayHaveKey(const Trace& trace, GroupKey key) {
  const auto is_call = [](SpanKind kind) {
    return kind == SpanKind::kPythonFunction || kind == SpanKind::kCFunction || kind == SpanKind::kModule;
  };
  const auto& kinds = trace.spans().kind;
  if (key == GroupKey::kShape) return trace.argument_list_count() > 0;
  if (key == GroupKey::kModule) return FindModules(trace).has_modules();
  return trace.stacks().size() > 0 || std::any_of(kinds.begin(), kinds.end(), is_call);
}

// The summary by name and one more key; without rows if no span has the key. A page has no room for more than
// max_bytes of texts.
OpSummary GroupedBy(const Trace& trace, GroupKey key, size_t max_bytes) {
  OpSummary summary;
  summary.key_names.emplace_back(GroupKeyNames()[static_cast<size_t>(key)]);
  if (!MayHaveKey(trace, key)) return summary;
  summary = SummarizeOps(trace, {.group_by = {GroupKey::kName, key}, .max_key_bytes = 2 * max_bytes});
  const auto has_key = [](const OpSummaryRow& row) { return !row.keys[0].empty(); };
  if (std::none_of(summary.rows.begin(), summary.rows.end(), has_key)) summary.rows.clear();
  return summary;
}

// Without rows if none has FLOPs or bytes.
RooflineReport RooflineOf(const Trace& trace) {
  RooflineReport report;
  if (trace.argument_list_count() == 0) return report;
  report = MeasureRoofline(trace);
  const auto is_known = [](const RooflineRow& row) { return row.flops.value_or(0) > 0 || row.bytes.value_or(0) > 0; };
  if (std::none_of(report.rows.begin(), report.rows.end(), is_known)) report.rows.clear();
  return report;
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
  results.operators_by_shape = GroupedBy(trace, GroupKey::kShape, options.page.max_bytes);
  results.operators_by_stack = GroupedBy(trace, GroupKey::kStack, options.page.max_bytes);
  results.operators_by_module = GroupedBy(trace, GroupKey::kModule, options.page.max_bytes);
  results.roofline = RooflineOf(trace);
  results.memory = MeasureMemoryUsage(trace);
  if (options.baseline != nullptr) results.diff = DiffTraces(*options.baseline, trace);
  AddTrees(trace, options.baseline, &results);
  results.memory_curves = MeasureMemoryCurves(trace);
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

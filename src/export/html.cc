// Computes what a page shows, each result once and several side by side, and hands it to the writer of pages
// (src/report/html), which only writes. Works and modules are the operator summary of a part of the spans, so that
// their numbers are those of `summary`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export/html.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include "base/catch_bad_alloc.h"
#include "base/json_object.h"
#include "base/thread_team.h"
#include "export/span_arguments.h"
#include "export/writers.h"
#include "opscope/export/output_file.h"

namespace opscope {
namespace {

// The summary of the spans of these kinds, on devices if is_device.
OpSummary SummarizeKinds(const Trace& trace, std::initializer_list<SpanKind> kinds, bool is_device) {
  const SpanColumns& spans = trace.spans();
  std::vector<uint8_t> selected(spans.size(), 0);
  bool has_any = false;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (std::find(kinds.begin(), kinds.end(), spans.kind[row]) == kinds.end()) continue;
    if ((trace.tracks().kind[Row(spans.track[row])] == TrackKind::kDeviceStream) != is_device) continue;
    selected[row] = 1;
    has_any = true;
  }
  return has_any ? SummarizeOps(trace, {.selected = &selected}) : OpSummary();
}

std::vector<FlameTree> TreesOf(const Trace& trace, size_t max_bytes) {
  constexpr FlameMetric kMetrics[] = {FlameMetric::kTime, FlameMetric::kDeviceTime, FlameMetric::kMemory,
                                      FlameMetric::kFlops};
  // 20,000 nodes per tree in a page of 10 MiB: ten times as many as a screen shows at once.
  constexpr size_t kBytesPerNode = 500;
  std::vector<FlameTree> trees =
      FoldSpans(trace, kMetrics, {.threads = ThreadNodes::kNever, .max_nodes = max_bytes / kBytesPerNode});
  std::erase_if(trees,
                [](const FlameTree& tree) { return tree.metric != FlameMetric::kTime && tree.nodes[0].total == 0; });
  return trees;
}

// Results that do not depend on each other, computed side by side. Those that take long begin first.
void Compute(const Trace& trace, const HtmlExportOptions& options, std::optional<TimelineSpans>* timeline,
             PageResults* results) {
  const std::function<void()> tasks[] = {
      [&] { results->trees = TreesOf(trace, options.page.max_bytes); },
      [&] { results->operators = SummarizeOps(trace); },
      [&] {
        if (options.baseline != nullptr) results->diff = DiffTraces(*options.baseline, trace);
      },
      [&] { results->works = SummarizeKinds(trace, {SpanKind::kKernel, SpanKind::kCopy, SpanKind::kSet}, true); },
      [&] { results->modules = SummarizeKinds(trace, {SpanKind::kModule}, false); },
      [&] { results->advice = Advise(trace); },
      [&] { results->steps = MeasureSteps(trace); },
      [&] { results->devices = MeasureDevices(trace); },
      [&] { timeline->emplace(trace); },
      [&] { results->memory_curves = MeasureMemoryCurves(trace); },
      [&] { results->quality = JudgeQuality(trace); },
      [&] { results->memory = MeasureMemoryUsage(trace); },
      [&] { results->flows = ListFlows(trace); },
      [&] { results->window = WindowOfSpans(trace); },
  };
  constexpr size_t kSpansWorthAThread = 20'000;
  ThreadTeam team(trace.spans().size() < kSpansWorthAThread ? 1 : DefaultThreadCount());
  team.ForEach(std::size(tasks), [&](size_t task, size_t) { tasks[task](); });
}

template <typename Use>
auto UsePage(const Trace& trace, const HtmlExportOptions& options, const Use& use) {
  PageResults results;
  results.trace = &trace;
  results.title = options.title.empty() ? "trace" : options.title;
  results.files = options.files.empty() ? std::vector{results.title} : options.files;
  results.producer = "opscope " OPSCOPE_VERSION;
  std::optional<TimelineSpans> timeline;
  Compute(trace, options, &timeline, &results);
  results.timeline = &*timeline;
  SpanArguments arguments(trace);
  results.append_argument_list = [&](ArgsId list, std::string* members) { arguments.AppendList(list, members); };
  results.append_arguments = [&](uint32_t span, std::vector<IntegerArgument>* integers, std::string* members) {
    arguments.AppendOwn(span, integers, members);
  };
  return use(results);
}

}  // namespace

AppendPageArguments PageArguments(const Trace& trace) {
  return [&trace, arguments = SpanArguments(trace)](uint32_t span, std::string* members) mutable {
    if (const ArgsId list = trace.spans().args[span]; list != ArgsId::kNone) arguments.AppendList(list, members);
    std::vector<IntegerArgument> integers;
    std::string own;
    arguments.AppendOwn(span, &integers, &own);
    if (!own.empty()) members->append(members->empty() ? "" : ",").append(own);
    for (const IntegerArgument& argument : integers)
      JsonMemberWriter(members).Int(argument.key, argument.value);
  };
}

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

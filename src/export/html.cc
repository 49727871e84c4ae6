// Computes the results that a page shows, several in parallel, and passes them to the writer of pages
// (src/report/html). The tables of device work and of modules are operator summaries of some span kinds, so that their
// numbers equal those of `summary`.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/export/html.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/json_object.h"
#include "base/thread_team.h"
#include "export/span_arguments.h"
#include "export/writers.h"
#include "opscope/analysis/modules.h"
#include "opscope/export/output_file.h"
#include "opscope/torch/memory_timeline.h"

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

constexpr FlameMetric kPageMetrics[] = {FlameMetric::kTime, FlameMetric::kDeviceTime, FlameMetric::kMemory,
                                        FlameMetric::kFlops};

// A tree per metric. A comparison needs all nodes, because a node that is folded in one run may be shown in the other.
std::vector<FlameTree> FoldForPage(const Trace& trace, size_t max_nodes) {
  return FoldSpans(trace, kPageMetrics, {.threads = ThreadNodes::kNever, .max_nodes = max_nodes});
}

void AddTrees(const Trace& trace, const HtmlExportOptions& options, PageResults* results) {
  // 40,000 nodes per tree in a page of 10 MiB: ten times as many as a screen shows at once.
  constexpr size_t kBytesPerNode = 250;
  const bool is_compared = options.baseline != nullptr;
  results->trees = FoldForPage(trace, is_compared ? SIZE_MAX : options.page.max_bytes / kBytesPerNode);
  const auto has_values = [](const FlameTree& tree) {
    return tree.metric == FlameMetric::kTime || tree.nodes[0].total > 0;
  };
  if (is_compared) {
    const std::vector<FlameTree> base = FoldForPage(*options.baseline, SIZE_MAX);
    for (size_t i = 0; i < base.size(); ++i) {
      if (has_values(results->trees[i]) || has_values(base[i]))
        results->tree_diffs.push_back(DiffFlameTrees(results->trees[i], base[i]));
    }
  }
  std::erase_if(results->trees, [&](const FlameTree& tree) { return !has_values(tree); });
}

// Curves and blocks are made from one timeline of the allocations.
void AddMemory(const Trace& trace, PageResults* results) {
  const MemoryTimeline memory = trace.allocations().size() == 0 ? MemoryTimeline() : BuildMemoryTimeline(trace);
  results->memory_curves = MeasureMemoryCurves(trace, memory);
  results->memory_map = MapMemory(trace, memory);
}

// Whether a span has the key. Cheaper than the summary.
bool MayHaveKey(const Trace& trace, GroupKey key) {
  const auto is_call = [](SpanKind kind) {
    return kind == SpanKind::kPythonFunction || kind == SpanKind::kCFunction || kind == SpanKind::kModule;
  };
  const auto& kinds = trace.spans().kind;
  if (key == GroupKey::kShape) return trace.argument_list_count() > 0;
  if (key == GroupKey::kModule) return FindModules(trace).has_modules();
  return trace.stacks().size() > 0 || std::any_of(kinds.begin(), kinds.end(), is_call);
}

// The summary by name and one more key, cut after max_bytes of texts; without rows if no span has the key.
OpSummary GroupedBy(const Trace& trace, GroupKey key, size_t max_bytes) {
  OpSummary summary;
  summary.key_names.emplace_back(GroupKeyNames()[static_cast<size_t>(key)]);
  if (!MayHaveKey(trace, key)) return summary;
  // One thread: others would hold sums of their own for each of many groups, and they have tasks of their own.
  summary = SummarizeOps(trace, {.group_by = {GroupKey::kName, key}, .max_threads = 1, .max_key_bytes = max_bytes});
  const auto has_key = [](const OpSummaryRow& row) { return !row.keys[0].empty(); };
  if (std::none_of(summary.rows.begin(), summary.rows.end(), has_key)) summary.rows.clear();
  if (summary.rows.empty()) summary.left_out = {};
  return summary;
}

// Has no rows if no operator has FLOPs or bytes.
RooflineReport RooflineOf(const Trace& trace) {
  RooflineReport report;
  if (trace.argument_list_count() == 0) return report;
  report = MeasureRoofline(trace);
  const auto is_known = [](const RooflineRow& row) { return row.flops.value_or(0) > 0 || row.bytes.value_or(0) > 0; };
  if (std::none_of(report.rows.begin(), report.rows.end(), is_known)) report.rows.clear();
  return report;
}

using Tasks = std::vector<std::function<void()>>;

// The results for the tabs Overview and Timeline.
Tasks OverviewTasks(const Trace& trace, std::unique_ptr<TimelineSpans>* timeline, PageResults* results) {
  return {
      [=, &trace] { results->advice = Advise(trace); },
      [=, &trace] { results->steps = MeasureSteps(trace); },
      [=, &trace] { results->devices = MeasureDevices(trace); },
      [=, &trace] { *timeline = std::make_unique<TimelineSpans>(trace); },
      [=, &trace] { results->quality = JudgeQuality(trace); },
      [=, &trace] { results->memory = MeasureMemoryUsage(trace); },
      [=, &trace] { results->window = WindowOfSpans(trace); },
  };
}

// The results for the other tabs.
Tasks OtherTasks(const Trace& trace, const HtmlExportOptions& options, PageResults* results) {
  const auto grouped_by = [max_bytes = options.page.max_bytes, &trace](GroupKey key) {
    return GroupedBy(trace, key, max_bytes);
  };
  return {
      [=, &trace, &options] { AddTrees(trace, options, results); },
      [=, &trace] { results->operators = SummarizeOps(trace); },
      [=] { results->operators_by_stack = grouped_by(GroupKey::kStack); },
      [=] { results->operators_by_shape = grouped_by(GroupKey::kShape); },
      [=] { results->operators_by_module = grouped_by(GroupKey::kModule); },
      [=, &trace] { results->roofline = RooflineOf(trace); },
      [=, &trace, &options] {
        if (options.baseline != nullptr) results->diff = DiffTraces(*options.baseline, trace);
      },
      [=, &trace] {
        results->works = SummarizeKinds(trace, {SpanKind::kKernel, SpanKind::kCopy, SpanKind::kSet}, true);
      },
      [=, &trace] { results->modules = SummarizeKinds(trace, {SpanKind::kModule}, false); },
      [=, &trace] { AddMemory(trace, results); },
      [=, &trace] { results->leaks = FindLeakCandidates(trace); },
      [=, &trace] { results->flows = ListFlows(trace); },
  };
}

// Independent results, computed in parallel, the longest first.
void Compute(const Trace& trace, const HtmlExportOptions& options, std::unique_ptr<TimelineSpans>* timeline,
             PageResults* results) {
  Tasks tasks;
  if (!results->is_partial) tasks = OtherTasks(trace, options, results);
  Tasks overview = OverviewTasks(trace, timeline, results);
  tasks.insert(tasks.end(), std::make_move_iterator(overview.begin()), std::make_move_iterator(overview.end()));
  constexpr size_t kSpansWorthAThread = 20'000;
  ThreadTeam team(trace.spans().size() < kSpansWorthAThread ? 1 : DefaultThreadCount());
  team.ForEach(tasks.size(), [&](size_t task, size_t) { tasks[task](); });
}

// Adds the reasons that are not among those of `quality`, with `prefix`.
void AddQuality(const Quality& added, const std::string& prefix, Quality* quality) {
  quality->verdict = std::max(quality->verdict, added.verdict);
  for (const std::string& reason : added.reasons) {
    const auto known = std::find(quality->reasons.begin(), quality->reasons.end(), prefix + reason);
    if (known == quality->reasons.end()) quality->reasons.push_back(prefix + reason);
  }
}

template <typename Use>
auto UsePage(const Trace& trace, const HtmlExportOptions& options, const Use& use) {
  PageResults results;
  results.trace = &trace;
  results.is_partial = options.page.is_partial;
  results.title = options.title.empty() ? "trace" : options.title;
  results.files = options.files.empty() ? std::vector{results.title} : options.files;
  results.producer = "opscope " OPSCOPE_VERSION;
  std::unique_ptr<TimelineSpans> timeline;
  Compute(trace, options, &timeline, &results);
  if (options.job != nullptr) {
    AddQuality(options.job->quality, "", &results.quality);
    if (options.job->rank_of_row.size() > 1) results.job = options.job;
  }
  if (options.baseline != nullptr) AddQuality(JudgeQuality(*options.baseline), "baseline: ", &results.quality);
  results.timeline = timeline.get();
  if (results.is_partial) return use(results);  // the server has the arguments
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

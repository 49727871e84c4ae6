// `opscope critical-path`: the chain of host code, launches, works and waits that determined the length of the run.
// Text has the parts of each path and its longest edges, --json and --csv all edges in order of time.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/critical_path.h"

#include <string>

#include "cli/result_verb.h"
#include "opscope/analysis/quality.h"

namespace opscope {
namespace {

constexpr size_t kLongestEdges = 20;

VerbResult ComputeCriticalPath(std::span<const Trace> traces, const ResultVerb& verb) {
  const Trace& trace = traces[0];
  const SelectedSpans selected(verb.filter, trace);
  const CriticalPathReport report = FindCriticalPaths(trace, {.selected = selected.get()});
  const auto limit = static_cast<size_t>(verb.options.limit);
  VerbResult result;
  if (!verb.options.sort.empty()) {
    result.tables.push_back(CriticalPathEdgeTable(trace, report));
  } else if (verb.common.prints_text()) {
    result.tables.push_back(LongestEdgeTable(trace, report, limit == 0 ? kLongestEdges : limit));
  } else {
    result.tables.push_back(CriticalPathEdgeTable(trace, report, limit));
  }
  result.tables.push_back(CriticalPathTable(trace, report.paths));
  result.shown = {1, 0};
  if (report.rows.size() > result.tables[0].size()) {
    result.note = "The " + std::to_string(result.tables[0].size()) + " longest of " +
                  std::to_string(report.rows.size()) + " edges; --json has all of them in order of time.\n";
  }
  if (verb.common.json) result.quality = JudgeQuality(trace);
  if (!report.paths.empty()) return result;
  result.why_empty = DescribeEmptySelection(trace, verb.filter);
  if (result.why_empty.empty()) result.why_empty = "there are no spans of threads and no works of a device";
  return result;
}

}  // namespace

Verb CriticalPathVerb() {
  ResultVerb verb{.name = "critical-path",
                  .description =
                      "the chain of host code, launches, works and waits that determined how long it "
                      "took",
                  .sort_help =
                      "a JSON field of the edges such as duration_ns (default: text by duration, others "
                      "by time)",
                  .limit_help = "print this many edges (default: the 20 longest in text, else all)",
                  .compute = ComputeCriticalPath,
                  .is_of_job = true,
                  .span_use = [] { return SpanUse{.host_spans = true, .works = true, .device_waits = true}; }};
  verb.common.clocks = JobClocks::kAligned;  // the path goes from rank to rank
  return MakeResultVerb(std::move(verb));
}

}  // namespace opscope

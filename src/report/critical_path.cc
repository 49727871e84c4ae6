// Critical paths: the columns of `opscope critical-path`. A path may have millions of edges, so tables for people have
// the longest ones, which are selected before any text is made.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/critical_path.h"

#include <algorithm>
#include <string>

#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "report/result_units.h"
#include "report/track_text.h"

namespace opscope {
namespace {

using namespace result_units;

constexpr size_t kLongestShown = 20;

// An edge, and the rank of its path. The text has times since the first begin of the trace, as --time takes them.
struct EdgeOfRank {
  const CriticalPathEdge* edge;
  int32_t rank;
  int64_t first_ns;
};

std::vector<EdgeOfRank> EdgesOf(const Trace& trace, const CriticalPathReport& report, size_t limit,
                                std::optional<int64_t> begin_ns = {}) {
  const int64_t first_ns = begin_ns ? *begin_ns : FirstBegin(trace);
  std::vector<EdgeOfRank> edges;
  const size_t count = limit == 0 ? report.rows.size() : std::min(limit, report.rows.size());
  edges.reserve(count);
  for (const CriticalPath& path : report.paths)
    for (size_t row = path.first_row; row < path.first_row + path.row_count && edges.size() < count; ++row)
      edges.push_back({&report.rows[row], path.rank, first_ns});
  return edges;
}

constexpr ResultField<CriticalPath> kPathFields[] = {
    {{"rank", "Rank", kNumber, "Rank of the processes; -1 if the input does not say it.", kIfKnown},
     [](const CriticalPath& p) { return p.rank; }},
    {{"length_ns", "Length", kTime, "Sum of the path's edges."}, [](const CriticalPath& p) { return p.length_ns; }},
    {{"window_ns", "Window", kTime, "From the first begin to the last end of host spans and works."},
     [](const CriticalPath& p) { return p.window_ns; }},
    {{"host_ns", "Host", kTime, "Part of the length: host code."},
     [](const CriticalPath& p) { return p.times.host_ns; }},
    {{"gap_ns", "Gap", kTime, "Part: no host span was open on the main thread."},
     [](const CriticalPath& p) { return p.times.gap_ns; }},
    {{"launch_ns", "Launch", kTime, "Part: from the begin of a launch to the begin of its work.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.launch_ns; }},
    {{"queue_ns", "Queue", kTime, "Part: from the end of a work to the begin of one that waited for it.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.queue_ns; }},
    {{"compute_ns", "Compute", kTime, "Part: kernels outside of collectives.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.compute_ns; }},
    {{"communication_ns", "Communication", kTime, "Part: kernels of collectives.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.communication_ns; }},
    {{"copy_ns", "Copies", kTime, "Part: copies and sets.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.copy_ns; }},
    {{"sync_ns", "Sync", kTime, "Part: from the end of a work to the end of the call that waited for it.", kIfNonZero},
     [](const CriticalPath& p) { return p.times.sync_ns; }},
};

constexpr ResultField<EdgeOfRank> kEdgeFields[] = {
    {{"rank", "Rank", kNumber, "Rank of the path; -1 if the input does not say it.", kIfKnown},
     [](const EdgeOfRank& e) { return e.rank; }},
    {{"kind", "Kind", kText, "The part of the path that it counts in: `host`, `gap`, `launch`, `queue`, ..."},
     [](const EdgeOfRank& e) { return PathEdgeKindName(e.edge->kind); }},
    {{"name", "Name", kText,
      "Name of the host span or work; of a launch and a sync the call, of a queue the work that waited; empty for a "
      "gap."},
     [](const Trace& trace, const EdgeOfRank& e) {
       const bool is_gap = e.edge->kind == PathEdgeKind::kGap || e.edge->span == SpanId::kNone;
       return is_gap ? std::string_view() : trace.text(trace.spans().name[Row(e.edge->span)]);
     }},
    {{"track", "Track", kText, "Process and thread or stream of that span, `PID/TID`."},
     [](const Trace& trace, const EdgeOfRank& e) {
       return e.edge->span == SpanId::kNone ? std::string() : TrackText(trace, trace.spans().track[Row(e.edge->span)]);
     }},
    {{"", "Begin", kTime}, [](const EdgeOfRank& e) { return SaturatingSubtract(e.edge->start_ns, e.first_ns); }},
    {{"start_ns", "", kTime, "Begin, relative to `epoch_ns` of `opscope info`."},
     [](const EdgeOfRank& e) { return e.edge->start_ns; }},
    {{"duration_ns", "Duration", kTime, "Length."}, [](const EdgeOfRank& e) { return e.edge->duration_ns; }},
};

}  // namespace

const ResultDescription& CriticalPathResult() {
  static const ResultDescription description =
      DescribeResult<CriticalPath>("critical-path", "paths", "The critical path of a rank and its parts.", kPathFields);
  return description;
}

const ResultDescription& CriticalPathEdgeResult() {
  static const ResultDescription description = DescribeResult<EdgeOfRank>(
      "critical-path", "rows", "An edge of a critical path that took time; path by path, in order of time.",
      kEdgeFields);
  return description;
}

ResultTable CriticalPathTable(const Trace& trace, const std::vector<CriticalPath>& paths) {
  return MakeResultTable<CriticalPath>(CriticalPathResult(), kPathFields, trace, paths);
}

ResultTable CriticalPathEdgeTable(const Trace& trace, const CriticalPathReport& report, size_t limit) {
  return MakeResultTable<EdgeOfRank>(CriticalPathEdgeResult(), kEdgeFields, trace, EdgesOf(trace, report, limit));
}

ResultTable LongestEdgeTable(const Trace& trace, const CriticalPathReport& report, size_t limit,
                             std::optional<int64_t> begin_ns) {
  std::vector<EdgeOfRank> edges = EdgesOf(trace, report, 0, begin_ns);
  const auto end = edges.begin() + static_cast<std::ptrdiff_t>(std::min(limit, edges.size()));
  std::partial_sort(edges.begin(), end, edges.end(), [](const EdgeOfRank& a, const EdgeOfRank& b) {
    return a.edge->duration_ns != b.edge->duration_ns ? a.edge->duration_ns > b.edge->duration_ns : a.edge < b.edge;
  });
  edges.erase(end, edges.end());
  return MakeResultTable<EdgeOfRank>(CriticalPathEdgeResult(), kEdgeFields, trace, edges);
}

std::string CriticalPathText(const Trace& trace, const CriticalPathReport& report) {
  VerbResult result;
  result.tables.push_back(CriticalPathTable(trace, report.paths));
  result.tables.push_back(LongestEdgeTable(trace, report, kLongestShown));
  result.shown = {0, 1};
  return ResultText(result);
}

}  // namespace opscope

// `opscope critical-path`: the chain of host code, launches, works and waits that determined the length of the run.
// Text has the parts of each path and its longest edges, --json and --csv all edges in order of time.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/critical_path.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "cli/job_verbs.h"
#include "cli/result_verb.h"
#include "opscope/analysis/quality.h"
#include "opscope/report/job_report.h"

namespace opscope {
namespace {

constexpr size_t kLongestEdges = 20;

// Text has the longest edges, unless all are sorted.
bool HasLongestEdges(const ResultVerb& verb) {
  return verb.options.sort.empty() && verb.common.prints_text();
}

size_t EdgeLimit(const ResultVerb& verb) {
  const auto limit = static_cast<size_t>(verb.options.limit);
  return limit == 0 && HasLongestEdges(verb) ? kLongestEdges : limit;
}

std::string DescribeShown(size_t shown, size_t edges) {
  if (edges <= shown) return "";
  return "The " + std::to_string(shown) + " longest of " + std::to_string(edges) +
         " edges; --json has all of them in order of time.\n";
}

// Adds the number of edges, of which the result may have a part, to `edges`.
VerbResult FindEdges(const Trace& trace, const ResultVerb& verb, size_t* edges) {
  const SelectedSpans selected(verb.filter, trace);
  const CriticalPathReport report = FindCriticalPaths(trace, {.selected = selected.get()});
  *edges += report.rows.size();
  VerbResult result;
  if (HasLongestEdges(verb)) {
    // Times of one rank of a JOB are those since the first begin of the JOB.
    const auto begin_ns = verb.is_one_rank ? std::optional<int64_t>(0) : std::nullopt;
    result.tables.push_back(LongestEdgeTable(trace, report, EdgeLimit(verb), begin_ns));
  } else {
    result.tables.push_back(CriticalPathEdgeTable(trace, report, verb.options.sort.empty() ? EdgeLimit(verb) : 0));
  }
  result.tables.push_back(CriticalPathTable(trace, report.paths));
  result.shown = {1, 0};
  if (report.paths.empty()) result.why_empty = "there are no spans of threads and no works of a device";
  return result;
}

VerbResult ComputeCriticalPath(std::span<const Trace> traces, const ResultVerb& verb) {
  const Trace& trace = traces[0];
  size_t edges = 0;
  VerbResult result = FindEdges(trace, verb, &edges);
  result.note = DescribeShown(result.tables[0].size(), edges);
  if (verb.common.json) result.quality = JudgeQuality(trace);
  if (result.why_empty.empty()) return result;
  if (const std::string nothing = DescribeEmptySelection(trace, verb.filter); !nothing.empty())
    result.why_empty = nothing;
  return result;
}

// One rank of a JOB after the other. Each rank gives as many edges as are shown of all.
std::optional<int> CriticalPathOfRanks(const std::string& job, const ResultVerb& verb, const CliHost& host,
                                       ResultWriter* writer) {
  ResultVerb one = verb;
  one.is_one_rank = true;
  size_t edges = 0;
  RankByRank question =
      CriticalPathByRank(verb.filter, [&](const Trace& trace) { return FindEdges(trace, one, &edges); });
  question.finish = [&, join = std::move(question.finish)](Verdict verdict) {
    VerbResult result = join(verdict);
    if (HasLongestEdges(verb)) {
      OPSCOPE_CHECK(result.tables[0].Sort("duration_ns").ok());
      result.tables[0].Truncate(EdgeLimit(verb));
      result.note = DescribeShown(result.tables[0].size(), edges);
    }
    return result;
  };
  const JobRequest request = {verb.name, verb.common, verb.options, verb.span_use()};
  return AnswerOneRankAtATime(job, request, verb.filter, question, host, writer);
}

}  // namespace

Verb CriticalPathVerb(const CliHost& host) {
  return MakeResultVerb(
      {.name = "critical-path",
       .description = "the chain of host code, launches, works and waits that determined how long it took",
       .sort_help = "a JSON field of the edges such as duration_ns (default: text by duration, others by time)",
       .limit_help = "print this many edges (default: the 20 longest in text, else all)",
       .compute = ComputeCriticalPath,
       .is_of_job = true,
       .span_use = [] { return SpanUse{.host_spans = true, .works = true, .device_waits = true}; },
       .answer_job = [&host](const std::string& job, const ResultVerb& verb,
                             ResultWriter* writer) { return CriticalPathOfRanks(job, verb, host, writer); }});
}

}  // namespace opscope

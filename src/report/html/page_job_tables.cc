// The tables of the tab Ranks: the rows of the verbs over a JOB, and which part of the timeline each one leads to. A
// row of a straggler leads to the first step in which it was one, on the lowest of its ranks that the timeline has.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/saturating.h"
#include "opscope/analysis/contents.h"
#include "report/html/page_parts.h"
#include "report/html/page_table.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

constexpr ResultField<JobProblem> kPageJobProblemFields[] = {
    {{"severity", "Severity", kText, "`info`, `data_loss` or `error`."},
     [](const JobProblem& p) { return ProblemSeverityName(p.severity); }},
    {{"kind", "Kind", kText, "Kind of problem."}, [](const JobProblem& p) { return p.kind; }},
    {{"ranks", "Ranks", kNumberList, "The ranks that it concerns."},
     [](const JobProblem& p) {
       std::string list;
       for (const int32_t rank : p.ranks)
         list.append(list.empty() ? "" : ",").append(std::to_string(rank));
       return list;
     }},
    {{"count", "Count", kNumber, "How often."}, [](const JobProblem& p) { return p.count; }},
    {{"message", "Message", kText, "The problem as a sentence."}, [](const JobProblem& p) { return p.message; }},
    {{"file", "File", kText, "The file; empty: it shows in the whole job."},
     [](const JobProblem& p) { return p.file; }},
};

// What the timeline has of each rank.
class RanksInTimeline {
 public:
  explicit RanksInTimeline(const PageResults& results) {
    for (const int32_t rank : PageRanksWithSpans(*results.trace))
      ranks_.insert(rank);
    for (const StepTimes& step : results.steps.rows) {
      const int64_t end = SaturatingAdd(step.start_ns, step.duration_ns);
      steps_.try_emplace({step.rank, step.number}, step.start_ns, end);
    }
  }

  std::optional<int32_t> Rank(int32_t rank) const { return ranks_.contains(rank) ? std::optional(rank) : std::nullopt; }
  // The first of the ranks that has spans.
  std::optional<int32_t> FirstOf(const std::vector<int32_t>& ranks) const {
    const auto found = std::find_if(ranks.begin(), ranks.end(), [&](int32_t rank) { return ranks_.contains(rank); });
    return found == ranks.end() ? std::nullopt : std::optional(*found);
  }
  PageRange Step(std::optional<int32_t> rank, int64_t step) const {
    const auto found = rank ? steps_.find({*rank, step}) : steps_.end();
    return found == steps_.end() ? PageRange() : PageRange(found->second);
  }

 private:
  std::set<int32_t> ranks_;
  std::map<std::pair<int32_t, int64_t>, std::pair<int64_t, int64_t>> steps_;
};

// The ranks that the others waited for most often come first: the last rows are those that may not fit.
PageTable RankTable(const JobOverview& job, const RanksInTimeline& timeline) {
  PageTable page{.key = "ranks", .table = job.ranks.tables[0], .why_empty = "The job has no ranks.", .weight = 6};
  const Result<std::vector<uint32_t>> order = page.table.OrderBy("last_count");
  OPSCOPE_CHECK(order.ok());
  for (const uint32_t row : order.value())
    page.timeline_ranks.push_back(timeline.Rank(job.rank_of_row[row]));
  OPSCOPE_CHECK(page.table.Sort("last_count").ok());
  return page;
}

PageTable StragglerTable(const JobOverview& job, const RanksInTimeline& timeline) {
  PageTable page{.key = "stragglers",
                 .table = job.stragglers.tables[0],
                 .why_empty = PageSentence(job.stragglers.why_empty),
                 .weight = 2};
  for (const JobOverview::Straggler& straggler : job.straggler_of_row) {
    page.timeline_ranks.push_back(timeline.FirstOf(straggler.ranks));
    page.ranges.push_back(timeline.Step(page.timeline_ranks.back(), straggler.first_step));
  }
  return page;
}

}  // namespace

std::vector<int32_t> PageRanksWithSpans(const Trace& trace) {
  std::set<int32_t> ranks;
  for (const ListedThread& track : ListTracks(trace))
    if (track.rank >= 0 && track.spans > 0) ranks.insert(track.rank);
  return {ranks.begin(), ranks.end()};
}

const ResultDescription& PageJobProblemResult() {
  static const ResultDescription description = DescribeResult<JobProblem>(
      "report", "job_problems", "What is missing or wrong in the files of a job.", kPageJobProblemFields);
  return description;
}

void AddJobTables(const PageResults& results, std::vector<PageTable>* tables) {
  const JobOverview& job = *results.job;
  const RanksInTimeline timeline(results);
  tables->push_back(RankTable(job, timeline));
  tables->push_back(StragglerTable(job, timeline));
  const std::string no_steps = "The job has no steps.";
  PageTable critical{
      .key = "critical_ranks", .table = job.critical_ranks.tables[0], .why_empty = no_steps, .weight = 2};
  for (const int32_t rank : job.critical_rank_of_row)
    critical.timeline_ranks.push_back(timeline.Rank(rank));
  tables->push_back(std::move(critical));
  PageTable steps{.key = "critical_steps", .table = job.critical_ranks.tables[1], .why_empty = no_steps, .weight = 2};
  for (const JobOverview::CriticalStep& step : job.critical_step_of_row) {
    steps.timeline_ranks.push_back(timeline.Rank(step.rank));
    steps.ranges.push_back(timeline.Step(steps.timeline_ranks.back(), step.step));
  }
  tables->push_back(std::move(steps));
  tables->push_back({.key = "collective_groups",
                     .table = job.collectives.tables[0],
                     .why_empty = "No collective has a counterpart on another rank.",
                     .weight = 2});
  tables->push_back({.key = "job_problems",
                     .table = MakeResultTable<JobProblem>(PageJobProblemResult(), kPageJobProblemFields, *results.trace,
                                                          job.problems),
                     .why_empty = "The files of the job have no problems."});
}

}  // namespace opscope

// What each column of `ranks`, `collectives`, `stragglers` and `critical-ranks` means. The rows come from SQL, so the
// descriptions name columns and have no functions that read a struct; src/job joins the two by the keys.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/job_answers.h"

#include "report/human_units.h"
#include "report/result_units.h"

namespace opscope {

using namespace result_units;

const ResultDescription& RankResult() {
  static const ResultDescription description = {
      "ranks",
      "rows",
      "A rank, its steps, its waiting and its clock.",
      {{"rank", "Rank", kNumber, "The rank; -1: unknown."},
       {"host", "Host", kText, "Name of its machine; empty: unknown."},
       {"stage", "Stage", kNumber, "Its place in its pipeline group, from 0; null: unknown.", kIfKnown},
       {"rank_from", "", kText, "What says the rank: `metadata`, `file_name` or `none`."},
       {"files", "Files", kNumber, "Number of its files: recording windows."},
       {"spans", "Spans", kNumber, "Number of their spans."},
       {"steps", "Steps", kNumber, "Number of its steps."},
       {"step_mean_ns", "Mean step", kTime, "Their mean length, rounded down."},
       {"step_p50_ns", "P50", kTime, "Half of them were at most this long."},
       {"step_p99_ns", "P99", kTime, "99 of 100 were at most this long."},
       {"collectives", "Collectives", kNumber, "Number of its collectives."},
       {"unmatched", "Unmatched", kNumber, "How many of them have no counterpart on another rank.", kIfNonZero},
       {"wait_ns", "Waited", kTime, "Sum of its waits for the last rank of each collective."},
       {"last_count", "Last", kNumber, "How many collectives waited for it."},
       {"clock_source", "Clock", kText,
        "How its clock was compared: `reference`, `collectives`, `wall_clock`, `none`."},
       {"clock_offset_ns", "Offset", kTime, "Time to add to its clock, in its first window."},
       {"clock_bound_ns", "Within", kTime, "Largest bound of the error of the offset."},
       {"clock_error_ns", "", kTime, "Largest error of the estimate."}}};
  return description;
}

const ResultDescription& JobCollectiveResult() {
  static const ResultDescription description = {
      "collectives",
      "rows",
      "A collective of several ranks.",
      {{"group", "Group", kText, "Name of the process group; empty: all ranks."},
       {"group_key", "", kText, "Name, size and first members of the group."},
       {"group_size", "Size", kNumber, "Number of its members."},
       {"number", "Number", kNumber, "Number of the collective in its group."},
       {"number_from", "", kText, "`seq`: the program's own number; `order`: by order in each step."},
       {"step", "Step", kNumber, "Step on the lowest rank; null: outside of all steps.", kIfKnown},
       {"kind", "Kind", kText, "`all_reduce`, `broadcast`, ..."},
       {"elements", "Elements", kAmount, "Elements of the input on the lowest rank; 0: unknown.", kIfNonZero},
       {"seen", "Seen", kNumber, "Ranks that have it."},
       {"missing_ranks", "", kNumberList, "Members that lack it."},
       {"transfer_ns", "Transfer", kTime, "Smallest duration of the members; null: the kind does not synchronise."},
       {"wait_ns", "Waited", kTime, "Sum of what the members waited."},
       {"skew_ns", "Skew", kTime, "Longest wait; of other kinds, how far apart they begin."},
       {"last_rank", "Last", kNumber, "The rank that the others waited for; null: not certain.", kIfKnown},
       {"end_spread_ns", "", kTime, "How far apart the members end, on aligned clocks."},
       {"clock_bound_ns", "", kTime, "Largest bound of the members' clocks."}}};
  return description;
}

const ResultDescription& CollectiveMemberResult() {
  static const ResultDescription description = {"collectives",
                                                "members",
                                                "A rank's part of a collective.",
                                                {{"rank", "Rank", kNumber, "The rank."},
                                                 {"duration_ns", "Time", kTime, "How long it was in the collective."},
                                                 {"wait_ns", "Waited", kTime, "How much of that it waited."}}};
  return description;
}

const ResultDescription& CollectiveGroupResult() {
  static const ResultDescription description = {
      "collectives",
      "groups",
      "The collectives of one group that have the same kind and size.",
      {{"group_key", "Group", kText, "Name, size and first members of the group."},
       {"kind", "Kind", kText, "`all_reduce`, `broadcast`, ..."},
       {"elements", "Elements", kAmount, "Elements of the input; 0: unknown.", kIfNonZero},
       {"count", "Count", kNumber, "How many there are."},
       {"transfer_p50_ns", "Transfer", kTime, "Median of their transfers."},
       {"wait_ns", "Waited", kTime, "Sum of all waits."},
       {"skew_max_ns", "Longest wait", kTime, "Largest skew."}}};
  return description;
}

const ResultDescription& StragglerResult() {
  static const ResultDescription description = {
      "stragglers",
      "rows",
      "A rank, a host or a pipeline stage that makes the others wait.",
      {{"set", "Set", kText, "`rank`, `host` or `stage`."},
       {"name", "Name", kText, "The rank, the host or the stage."},
       {"ranks", "Ranks", kNumberList, "The ranks of the set."},
       {"behavior", "Behavior", kText, "`persistent`: in half of the steps or more; `transient`: in some in a row."},
       {"cause", "Cause", kText, "What it does longer than the others: a part of `opscope steps`, or `unknown`."},
       {"caused_ns", "Caused", kTime, "How long the others waited for it, in all steps."},
       {"caused_per_step_ns", "Per step", kTime, "Mean of the steps in which it counts."},
       {"share", "Share", kShare, "That as a share of the mean step."},
       {"hit_steps", "Steps", kNumber, "In how many steps it counts."},
       {"first_step", "First", kNumber, "The first of these steps."},
       {"last_step", "Last", kNumber, "The last of these steps."},
       {"peers", "Peers", kNumber, "Other ranks with which it was compared."}}};
  return description;
}

const ResultDescription& JobSummaryResult() {
  static const ResultDescription description = {
      "summary",
      "rows",
      "Spans of all ranks that have the same name.",
      {{"name", "Name", kText, "Name of the spans."},
       {"count", "Count", kNumber, "Number of spans."},
       {"total_with_recursion_ns", "Sum", kTime, "Plain sum of the durations."},
       {"p50_ns", "P50", kTime, "Half of the durations are not longer."},
       {"p99_ns", "P99", kTime, "99 of 100 durations are not longer."},
       {"max_ns", "Max", kTime, "Longest duration."}}};
  return description;
}

const ResultDescription& CriticalRankResult() {
  static const ResultDescription description = {
      "critical-ranks",
      "rows",
      "A rank on the critical path of the job.",
      {{"rank", "Rank", kNumber, "The rank."},
       {"critical_ns", "Critical", kTime, "Time of the path on it."},
       {"share", "Share", kShare, "Share of the path."},
       {"steps", "Steps", kNumber, "Steps in which it has most of the path."},
       {"saved_ns", "", kTime, "The part of `excess_ns` before the collectives at which the path came to the rank."},
       {"excess_ns", "Saved", kTime, "What the path would lose if the rank were as fast as the others."}}};
  return description;
}

const ResultDescription& CriticalRankStepResult() {
  static const ResultDescription description = {
      "critical-ranks",
      "steps",
      "A step of the critical path.",
      {{"step", "Step", kNumber, "The step."},
       {"length_ns", "Length", kTime, "Time of the path in it."},
       {"rank", "Rank", kNumber, "The rank with most of it."},
       {"near_ranks", "Near", kNumber, "Ranks that waited next to nothing in it."}}};
  return description;
}

std::string WhyNoStragglers(std::optional<int64_t> mean_step_ns, bool has_matched_collectives) {
  if (!mean_step_ns) return "it has no steps";
  if (!has_matched_collectives)
    return "no collective has a counterpart on another rank, so who makes the others wait is unknown";
  return "no rank makes the others wait for 2 % of the mean step (" + HumanTime(*mean_step_ns) + ") or more";
}

}  // namespace opscope

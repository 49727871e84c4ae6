// What the tab Ranks of a page shows of a JOB: the answers of `ranks`, `stragglers`, `critical-ranks` and
// `collectives`, and the durations of the steps by ranks as a picture.
//
//   opscope::Result<std::unique_ptr<opscope::JobEngine>> engine = opscope::OpenDuckdbEngine("job");
//   opscope::Result<opscope::JobOverview> overview = opscope::AnswerJobOverview(engine.value().get());
//   std::vector<int32_t> ranks = opscope::RanksToShow(overview.value(), 20'000'000);
//
// Thread rule: any thread; an engine is used by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/analysis/quality.h"
#include "opscope/job.h"
#include "opscope/job_engine.h"
#include "opscope/report/job_report.h"
#include "opscope/report/result_table.h"
#include "opscope/report/step_heat_map.h"
#include "opscope/result.h"

namespace opscope {

// Everything that the tab shows.
struct JobOverview {
  // Which ranks a straggler is, and when it was one first.
  struct Straggler {
    std::vector<int32_t> ranks;
    int64_t first_step = 0;
  };
  // Where most of the critical path of a step lies.
  struct CriticalStep {
    int64_t step = 0;
    int32_t rank = -1;
  };

  int32_t attempt = 0;
  std::vector<int64_t> attempts;
  // 0: unknown.
  int64_t world_size = 0;
  std::vector<int64_t> missing_ranks;
  // The tables of the verbs, with their facts; `collectives` has the groups alone.
  VerbResult ranks, stragglers, critical_ranks, collectives;
  // By row of these tables.
  std::vector<int32_t> rank_of_row;
  std::vector<uint64_t> spans_of_row;
  std::vector<Straggler> straggler_of_row;
  std::vector<int32_t> critical_rank_of_row;
  std::vector<CriticalStep> critical_step_of_row;
  // Of the durations of the steps; and of their durations without waiting, which is the duration less the waits of the
  // rank in the synchronising collectives of the step: where ranks wait for each other, only these differ.
  StepHeatMap steps, steps_without_waiting;
  std::vector<JobProblem> problems;
  Quality quality;
};

// Answers over one attempt, nullopt: the largest. Errors as of AnswerJob.
[[nodiscard]] Result<JobOverview> AnswerJobOverview(JobEngine* engine, std::optional<int32_t> attempt = {});

// The ranks whose spans a page shows if all have more than max_spans: first those that are stragglers, then those on
// the critical path, then the lowest ones, as long as they fit; at least one. Ascending; empty: all ranks fit.
[[nodiscard]] std::vector<int32_t> RanksToShow(const JobOverview& overview, uint64_t max_spans);

}  // namespace opscope

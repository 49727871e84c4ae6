// Answers over a JOB: one question to all ranks. docs/reference/job.md defines each number.
//
//   opscope::Result<std::unique_ptr<opscope::JobEngine>> engine = opscope::OpenDuckdbEngine("job");
//   opscope::Result<opscope::JobAnswer> answer = opscope::AnswerJob("stragglers", engine.value().get());
//   Print(opscope::ResultJson(answer.value().result, {}));
//
// Thread rule: any thread; an engine is used by one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/job.h"
#include "opscope/job_engine.h"
#include "opscope/report/result_table.h"
#include "opscope/result.h"

namespace opscope {

// A question to all ranks.
struct JobQuestion {
  // nullopt: the largest of the JOB.
  std::optional<int32_t> attempt;
  // Of `collectives`: with the ranks of each.
  bool with_members = false;
  // Of `summary`: the quantiles come from the spans, which takes longer; else from counts by bins
  // of durations: at most 2.2 % too large, never too small.
  bool is_exact = false;
};

// The rows, with problems and quality as JSON, and the problems themselves.
struct JobAnswer {
  VerbResult result;
  std::vector<JobProblem> problems;
};

// verb: "ranks", "collectives", "stragglers", "critical-ranks"; "summary": counts and quantiles
// by name; "steps".
// kInvalidArgument: another verb, or no such attempt. Other errors are those of the engine.
[[nodiscard]] Result<JobAnswer> AnswerJob(std::string_view verb, JobEngine* engine, const JobQuestion& question = {});

}  // namespace opscope

// What `opscope collect` and `opscope compact` print, and the problems of a JOB.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "opscope/analysis/quality.h"
#include "opscope/job.h"
#include "opscope/report/result_table.h"

namespace opscope {

// The columns of `collect`, for help texts and references.
[[nodiscard]] const ResultDescription& CollectResult();

// A row per file. `job`: the folder, as JSON names it.
[[nodiscard]] VerbResult CollectVerbResult(const CollectReport& report, const std::string& job);
// {"schema": "opscope.compact/1", "parts_before", "parts_after", "problems", "quality"}
[[nodiscard]] std::string CompactJson(const CompactReport& report);

// [{"file", "kind", "severity", "count", "first_offset", "message", "ranks"}, ...]
[[nodiscard]] std::string JobProblemsJson(std::span<const JobProblem> problems);
// Doubtful if a problem says that something was lost. A reason per kind, with its first 20 ranks.
[[nodiscard]] Quality JudgeProblems(std::span<const JobProblem> problems);

}  // namespace opscope

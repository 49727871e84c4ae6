// The columns of the answers over a JOB, for help texts and references; docs/reference/job.md defines them. And why
// `stragglers` has no rows.
//
// Thread rule: constants; any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "opscope/report/result_table.h"

namespace opscope {

[[nodiscard]] const ResultDescription& RankResult();
[[nodiscard]] const ResultDescription& JobCollectiveResult();
[[nodiscard]] const ResultDescription& CollectiveMemberResult();
[[nodiscard]] const ResultDescription& CollectiveGroupResult();
[[nodiscard]] const ResultDescription& StragglerResult();
[[nodiscard]] const ResultDescription& CriticalRankResult();
[[nodiscard]] const ResultDescription& CriticalRankStepResult();
// Some columns of `summary`, which mean the same there.
[[nodiscard]] const ResultDescription& JobSummaryResult();

// Why no rank is a straggler, as a part of a sentence. mean_step_ns: nullopt if the job has no steps.
[[nodiscard]] std::string WhyNoStragglers(std::optional<int64_t> mean_step_ns, bool has_matched_collectives);

}  // namespace opscope

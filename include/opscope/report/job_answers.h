// The columns of the answers over a JOB, for help texts and references; docs/reference/job.md defines them.
//
// Thread rule: constants.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace opscope

// The parts of a JobOverview that no verb computes: facts about its rows for programs, and the image of steps by ranks.
//
// Thread rule: pure functions, but for the engine behind the runner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "job/critical_ranks.h"
#include "job/job_sql.h"
#include "job/row_values.h"
#include "opscope/report/job_overview.h"
#include "opscope/result.h"

namespace opscope {

void ReadRankRows(const RowValues& rows, JobOverview* overview);
void ReadStragglerRows(const RowValues& rows, JobOverview* overview);
void ReadCriticalPath(const CriticalRanks& path, JobOverview* overview);

// Both images of steps by ranks, of at most 512 x 512 cells. Errors are those of the engine.
[[nodiscard]] Status MeasureStepHeatMaps(JobSqlRunner* sql, JobOverview* overview);

}  // namespace opscope

// What `opscope ps` and `opscope record` print.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/control.h"
#include "opscope/report/result_table.h"

namespace opscope {

// The columns of `ps` and of `record`, for help texts and references.
[[nodiscard]] const ResultDescription& ProcessListResult();
[[nodiscard]] const ResultDescription& RecordedResult();

// A row per process.
[[nodiscard]] VerbResult ProcessListVerbResult(const std::vector<ControlProcess>& processes);
// A row per process that should record, with "request" and "first_step" before them in JSON.
[[nodiscard]] VerbResult RecordedVerbResult(const RecordReport& report);

}  // namespace opscope

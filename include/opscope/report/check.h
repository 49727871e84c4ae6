// The answers to limits as a table of results, and as JUnit XML for continuous integration.
//
//   std::string xml = CheckJUnit(CheckTrace(trace, nullptr, limits));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "opscope/analysis/check.h"
#include "opscope/report/result_table.h"

namespace opscope {

[[nodiscard]] const ResultDescription& CheckResult();

// A row per limit.
[[nodiscard]] ResultTable CheckTable(const std::vector<CheckRow>& rows);
// The same with "passed": true if no limit is crossed.
[[nodiscard]] VerbResult CheckVerbResult(const std::vector<CheckRow>& rows);

// A test suite `opscope check` with a test case per limit. Bytes that XML cannot hold become
// U+FFFD.
[[nodiscard]] std::string CheckJUnit(const std::vector<CheckRow>& rows);

}  // namespace opscope

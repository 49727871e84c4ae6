// Critical paths as tables of results. docs/reference/results.md lists the columns.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "opscope/analysis/critical_path.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

[[nodiscard]] const ResultDescription& CriticalPathResult();
[[nodiscard]] const ResultDescription& CriticalPathEdgeResult();

// A row per path. `trace`: the one that was measured.
[[nodiscard]] ResultTable CriticalPathTable(const Trace& trace, const std::vector<CriticalPath>& paths);
// A row per edge, path by path in order of time; the first `limit` of them, 0: all.
[[nodiscard]] ResultTable CriticalPathEdgeTable(const Trace& trace, const CriticalPathReport& report, size_t limit = 0);
// The `limit` longest edges of all paths, the longest first.
// begin_ns: the text has times since this moment; nullopt: since the first begin of the trace.
[[nodiscard]] ResultTable LongestEdgeTable(const Trace& trace, const CriticalPathReport& report, size_t limit,
                                           std::optional<int64_t> begin_ns = {});

// The paths as a table, and the 20 longest edges below; "" without paths.
[[nodiscard]] std::string CriticalPathText(const Trace& trace, const CriticalPathReport& report);

}  // namespace opscope

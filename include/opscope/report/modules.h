// Costs by module as text, JSON and CSV.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/analysis/modules.h"
#include "opscope/analysis/quality.h"
#include "opscope/report/rows.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// A line per module, indented by its depth, in the order of the program, or sorted and by path; "" when the input has
// no modules. kInvalidArgument: options.sort is no key.
[[nodiscard]] Result<std::string> FormatModuleTable(const ModuleSummary& summary, const RowOptions& options = {});
[[nodiscard]] Result<std::string> ModulesCsv(const ModuleSummary& summary, const RowOptions& options = {});
// "opscope.modules/1".
[[nodiscard]] Result<std::string> ModulesJson(const Trace& trace, const ModuleSummary& summary, const Quality& quality,
                                              const RowOptions& options = {});

}  // namespace opscope

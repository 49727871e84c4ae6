// What an input says of itself, and what is wrong with it or missing from it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/analysis/quality.h"
#include "opscope/trace.h"

namespace opscope {

// "opscope.info/1".
[[nodiscard]] std::string InfoJson(const Trace& trace, const Quality& quality);
[[nodiscard]] std::string FormatInfo(const Trace& trace);
// One line per input, below the names of the columns.
[[nodiscard]] std::string InfoCsv(const Trace& trace, std::string_view file, bool has_header = true);

// The "problems" array, and one line per problem for people ("" when there is none).
[[nodiscard]] std::string ProblemsJson(const Trace& trace);
[[nodiscard]] std::string FormatProblems(const Trace& trace);

// One line for below a table: what is missing from the recording, "" when nothing is.
[[nodiscard]] std::string FormatLoss(const Trace& trace);

}  // namespace opscope

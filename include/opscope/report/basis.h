// What an answer rests on, as a result of one row: the output of --explain. docs/reference/results.md lists the
// columns.
//
//   VerbResult result = ...;
//   result.basis = BasisTable({basis});
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "opscope/analysis/basis.h"
#include "opscope/report/result_table.h"

namespace opscope {

// "explain" of the JSON of a verb with --explain: an object, or a list if there are several inputs.
[[nodiscard]] const ResultDescription& BasisResult();

// A row per input.
[[nodiscard]] ResultTable BasisTable(const std::vector<AnswerBasis>& bases);

}  // namespace opscope

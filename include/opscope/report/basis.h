// What an answer rests on, as a result of one row.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/analysis/basis.h"
#include "opscope/report/result_table.h"
#include "opscope/trace.h"

namespace opscope {

// The object "explain" of the JSON of a verb with --explain.
[[nodiscard]] const ResultDescription& BasisResult();

[[nodiscard]] ResultTable BasisTable(const Trace& trace, const AnswerBasis& basis);

}  // namespace opscope

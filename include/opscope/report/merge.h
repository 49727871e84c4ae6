// What a merge did.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "opscope/analysis/quality.h"
#include "opscope/merge.h"
#include "opscope/report/result_table.h"

namespace opscope {

// "opscope.merge/1", and MergeTable() as text with notes below it.
[[nodiscard]] std::string MergeJson(const Merged& merged, const Quality& quality);
[[nodiscard]] std::string FormatMerge(const Merged& merged, size_t width = 0);

[[nodiscard]] const ResultDescription& MergeResult();
// A row per input.
[[nodiscard]] ResultTable MergeTable(const Merged& merged);

}  // namespace opscope

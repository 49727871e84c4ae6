// What a merge did.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "opscope/analysis/quality.h"
#include "opscope/merge.h"

namespace opscope {

// "opscope.merge/1", and a row per input for people.
[[nodiscard]] std::string MergeJson(const Merged& merged, const Quality& quality);
[[nodiscard]] std::string FormatMerge(const Merged& merged, size_t width = 0);
[[nodiscard]] std::string MergeCsv(const Merged& merged);

}  // namespace opscope

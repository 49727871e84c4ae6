// Parses the text of a condition into nodes (opscope/analysis/span_filter.h). O(length).
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "opscope/analysis/span_filter.h"
#include "opscope/result.h"

namespace opscope {

[[nodiscard]] Result<std::vector<SpanFilter::Node>> ParseSpanCondition(std::string_view condition);

[[nodiscard]] constexpr bool IsTextField(FilterField field) {
  return field <= FilterField::kProcess;
}

}  // namespace opscope

// Compares the number of a span with that of a condition.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "opscope/analysis/span_filter.h"

namespace opscope {

// REQUIRES: the node is a comparison of a number field.
inline bool HoldsFor(int64_t number, const SpanFilter::Node& node) {
  switch (node.op) {
    case FilterOperator::kEqual:
      return number == node.number;
    case FilterOperator::kNotEqual:
      return number != node.number;
    case FilterOperator::kLess:
      return number < node.number;
    case FilterOperator::kLessOrEqual:
      return number <= node.number;
    case FilterOperator::kGreater:
      return number > node.number;
    default:
      return number >= node.number;
  }
}

}  // namespace opscope

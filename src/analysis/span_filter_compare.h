// Compares numbers of spans with that of a condition.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "opscope/analysis/span_filter.h"

namespace opscope {

// Calls use(compare) with the function object of the operator. REQUIRES: `op` compares numbers.
template <typename Use>
auto WithComparison(FilterOperator op, const Use& use) {
  switch (op) {
    case FilterOperator::kEqual:
      return use(std::equal_to<>());
    case FilterOperator::kNotEqual:
      return use(std::not_equal_to<>());
    case FilterOperator::kLess:
      return use(std::less<>());
    case FilterOperator::kLessOrEqual:
      return use(std::less_equal<>());
    case FilterOperator::kGreater:
      return use(std::greater<>());
    default:
      return use(std::greater_equal<>());
  }
}

// REQUIRES: the node is a comparison of a number field.
inline bool HoldsFor(int64_t number, const SpanFilter::Node& node) {
  return WithComparison(node.op, [&](auto compare) { return compare(number, node.number); });
}

}  // namespace opscope

// The cost of a normalization by the places of its arguments, for torch's and MegEngine's operators. norm_costs.cc says
// how many operations an element has.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analysis/roofline/operator_cost.h"

namespace opscope {

// Positions of the arguments of one operator; -1: it has none.
struct NormLayout {
  int gradient = -1, input = 0, weight = 1, bias = 2;
};

// rows: number of means, each of which stands for the elements that are normalized together.
OperatorCost NormForward(const CallArguments& call, const NormLayout& at, Amount rows);
// wanted: whether the gradients of input, weight and bias are computed; unknown cost unless there are three.
OperatorCost NormBackward(const CallArguments& call, const NormLayout& at, Amount rows,
                          const std::vector<bool>& wanted = {true, true, true});

}  // namespace opscope

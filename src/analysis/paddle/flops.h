// Floating-point operations of operators, by Paddle's formulas (paddle.utils.flops).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// Of each node itself, without those in it. Empty: none has a number.
[[nodiscard]] std::vector<int64_t> PaddleFlopsOfNodes(const Trace& trace, const PaddleNodeTrees& trees);

// `name` as events have it ("matmul dygraph"); `members`: of a JSON object with "input_shapes" ({"X": [[2, 3]]}) and
// "attributes" ({"trans_x": true}). 0 where Paddle has no formula, or not what it needs.
[[nodiscard]] int64_t PaddleFlops(std::string_view name, std::string_view members);

}  // namespace opscope

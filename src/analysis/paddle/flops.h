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

// FLOPs of each node itself, without its descendants. Empty if no node has any. O(nodes).
[[nodiscard]] std::vector<int64_t> PaddleFlopsOfNodes(const Trace& trace, const PaddleNodeTrees& trees);

// `name`: the event's name ("matmul dygraph"). `members`: JSON members with "input_shapes" ({"X": [[2, 3]]}) and
// "attributes" ({"trans_x": true}). 0 if Paddle has no formula for the operator or a value is missing.
[[nodiscard]] int64_t PaddleFlops(std::string_view name, std::string_view members);

}  // namespace opscope

// Sums allocations and frees (bytes) by operator and range, by Paddle's rules.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/paddle/statistics.h"

namespace opscope {

// `order`: all nodes in Paddle's order (PaddleWalkOrder). O(nodes + memory events).
[[nodiscard]] std::vector<PaddlePlaceMemory> SummarizePaddleMemory(const Trace& trace, const PaddleNodeTrees& trees,
                                                                   const std::vector<uint32_t>& order);

}  // namespace opscope

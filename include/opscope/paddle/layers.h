// Layers and their operators, with what they calculate: what Paddle prints below its tables with with_flops.
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "opscope/paddle/node_trees.h"
#include "opscope/trace.h"

namespace opscope {

// A call of a layer or an operator of the forward pass.
struct PaddleLayer {
  std::string name;  // of the operator, without what its event adds
  size_t depth = 0;
  int64_t time = 0;   // ns
  int64_t flops = 0;  // of a layer: of all operators in it
};

// In order. As Paddle does, without the first thread.
[[nodiscard]] std::vector<PaddleLayer> FindPaddleLayers(const Trace& trace, const PaddleNodeTrees& trees);

}  // namespace opscope

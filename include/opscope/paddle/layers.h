// The layers of a model and their operators with FLOPs, which Paddle prints below
// its tables with with_flops.
//
//   for (const PaddleLayer& layer : FindPaddleLayers(trace, trees)) Print(layer.depth, layer.name, layer.flops);
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

// A call of a layer, or of an operator of the forward pass.
struct PaddleLayer {
  // Of an operator without the suffixes that its event adds.
  std::string name;
  // Nesting depth; 0: outermost.
  size_t depth = 0;
  // Nanoseconds.
  int64_t time = 0;
  // Of a layer the sum over all operators in it.
  int64_t flops = 0;
};

// In order of their calls. Leaves out the first thread, as Paddle does.
[[nodiscard]] std::vector<PaddleLayer> FindPaddleLayers(const Trace& trace, const PaddleNodeTrees& trees);

}  // namespace opscope

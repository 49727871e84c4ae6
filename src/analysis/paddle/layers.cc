// Lists the layers and operators for Paddle's FLOPs table, indented by depth. Backward and optimization subtrees are
// left out, as in the original. Each row knows the layer around it. Rows are in pre-order, so that one pass from the
// last row to the first adds the FLOPs of operators to all layers around them, at any depth.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/layers.h"

#include <string_view>

#include "analysis/paddle/flops.h"
#include "analysis/paddle/operator_name.h"
#include "base/saturating.h"

namespace opscope {
namespace {

using enum PaddleEventType;

class LayerFinder {
 public:
  LayerFinder(const Trace& trace, const PaddleNodeTrees& trees)
      : trace_(trace), trees_(trees), flops_(PaddleFlopsOfNodes(trace, trees)), layer_at_(trees.size(), kNoRow) {}

  std::vector<PaddleLayer> Find() {
    for (size_t thread = 1; thread < trees_.threads.size(); ++thread)
      AddThread(trees_.threads[thread]);
    for (size_t row = layers_.size(); row-- > 0;) {
      if (layer_around_[row] == kNoRow) continue;
      int64_t& flops = layers_[layer_around_[row]].flops;
      flops = SaturatingAdd(flops, layers_[row].flops);
    }
    return std::move(layers_);
  }

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  void AddThread(const PaddleThread& thread) {
    // Nesting depth of a node's children in Paddle's output: a layer adds one level more.
    std::vector<size_t> depth(thread.end_node - thread.first_node, 0);
    for (uint32_t node = thread.first_node + 1; node < thread.end_node;) {
      const PaddleEventType type = trees_.type[node];
      const std::string_view name = trace_.text(trace_.spans().name[Row(trees_.span[node])]);
      const size_t here = depth[trees_.parent[node] - thread.first_node] + 1;
      const bool is_left_out =
          type == kBackward || type == kOptimization || name.find("GradNode") != std::string_view::npos;
      if (is_left_out || type == kOperator) {
        if (!is_left_out) Add(node, name, here, flops_.empty() ? 0 : flops_[node]);
        node = trees_.end[node];
        continue;
      }
      depth[node - thread.first_node] = here;
      layer_at_[node] = layer_at_[trees_.parent[node]];
      if (type == kForward) {
        Add(node, name, here + 1, 0);
        depth[node - thread.first_node] = here + 1;
        layer_at_[node] = static_cast<uint32_t>(layers_.size() - 1);
      }
      ++node;
    }
  }

  void Add(uint32_t node, std::string_view name, size_t depth, int64_t flops) {
    layers_.push_back({PaddleOperatorName(name), depth, trace_.spans().duration[Row(trees_.span[node])].ns, flops});
    layer_around_.push_back(layer_at_[trees_.parent[node]]);
  }

  const Trace& trace_;
  const PaddleNodeTrees& trees_;
  const std::vector<int64_t> flops_;
  std::vector<uint32_t> layer_at_;  // by node: row of the innermost layer around its children; kNoRow: none
  std::vector<PaddleLayer> layers_;
  std::vector<uint32_t> layer_around_;  // by row of layers_: row of the layer around it; kNoRow: none
};

}  // namespace

std::vector<PaddleLayer> FindPaddleLayers(const Trace& trace, const PaddleNodeTrees& trees) {
  return LayerFinder(trace, trees).Find();
}

}  // namespace opscope

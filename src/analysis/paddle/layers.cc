// Lists the layers and operators for Paddle's FLOPs table, indented by depth. Backward and optimization subtrees are
// left out, as in the original. An operator's FLOPs are added to every layer around it, which are found by walking up
// the parents.
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
      : trace_(trace), trees_(trees), flops_(PaddleFlopsOfNodes(trace, trees)), row_of_(trees.size(), kNoRow) {}

  std::vector<PaddleLayer> Find() {
    for (size_t thread = 1; thread < trees_.threads.size(); ++thread)
      AddThread(trees_.threads[thread]);
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
      if (!is_left_out && type == kOperator) Add(node, name, here, flops_.empty() ? 0 : flops_[node]);
      if (!is_left_out && type == kForward) Add(node, name, here + 1, 0);
      depth[node - thread.first_node] = type == kForward ? here + 1 : here;
      row_of_[node] = type == kForward ? static_cast<uint32_t>(layers_.size() - 1) : kNoRow;
      node = is_left_out || type == kOperator ? trees_.end[node] : node + 1;
    }
  }

  void Add(uint32_t node, std::string_view name, size_t depth, int64_t flops) {
    layers_.push_back({PaddleOperatorName(name), depth, trace_.spans().duration[Row(trees_.span[node])].ns, flops});
    for (uint32_t around = trees_.parent[node]; flops != 0 && !trees_.is_root(around); around = trees_.parent[around]) {
      if (row_of_[around] == kNoRow) continue;
      PaddleLayer& layer = layers_[row_of_[around]];
      layer.flops = SaturatingAdd(layer.flops, flops);
    }
  }

  const Trace& trace_;
  const PaddleNodeTrees& trees_;
  const std::vector<int64_t> flops_;
  std::vector<uint32_t> row_of_;  // row in layers_, by node
  std::vector<PaddleLayer> layers_;
};

}  // namespace

std::vector<PaddleLayer> FindPaddleLayers(const Trace& trace, const PaddleNodeTrees& trees) {
  return LayerFinder(trace, trees).Find();
}

}  // namespace opscope

// Aligns two flame trees by their paths. A path is known by (node of its parent, name), so one pass over each tree with
// a hash look-up per node suffices: parents come before children, and a parent's node is known when its child is
// reached. Siblings of one name are one path; a tree has several where steps or threads were joined late.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame_diff.h"

#include <tsl/robin_map.h>

#include <functional>

#include "base/hash.h"
#include "base/saturating.h"

namespace opscope {
namespace {

struct FlamePathStep {
  uint32_t parent = 0;
  std::string_view name;
  bool operator==(const FlamePathStep&) const = default;
};

struct FlamePathStepHash {
  size_t operator()(const FlamePathStep& step) const {
    return MixedHash()(std::hash<std::string_view>()(step.name) + step.parent);
  }
};

class FlameAligner {
 public:
  explicit FlameAligner(const FlameTree& tree) {
    diff_.metric = tree.metric;
    diff_.nodes.push_back({.name = tree.nodes[0].name, .kind = FlameKind::kRoot});
  }

  // Calls add(node of tree, node of the difference) for each node of the tree.
  template <typename Add>
  void Align(const FlameTree& tree, const Add& add) {
    std::vector<uint32_t> number(tree.nodes.size(), 0);
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      const FlameNode& node = tree.nodes[i];
      if (i > 0) number[i] = Find(number[node.parent], node);
      add(node, &diff_.nodes[number[i]]);
    }
  }

  FlameDiff Take() { return std::move(diff_); }

 private:
  uint32_t Find(uint32_t parent, const FlameNode& node) {
    const auto next = static_cast<uint32_t>(diff_.nodes.size());
    const auto [found, is_new] = nodes_.try_emplace(FlamePathStep{parent, node.name}, next);
    if (is_new) diff_.nodes.push_back({.name = node.name, .parent = parent, .kind = node.kind});
    return found->second;
  }

  FlameDiff diff_;
  tsl::robin_map<FlamePathStep, uint32_t, FlamePathStepHash> nodes_;
};

}  // namespace

FlameDiff DiffFlameTrees(const FlameTree& tree, const FlameTree& base) {
  FlameAligner aligner(tree);
  aligner.Align(tree, [](const FlameNode& node, FlameDiffNode* joined) {
    joined->spans += node.spans;
    joined->total = SaturatingAdd(joined->total, node.total);
    joined->self = SaturatingAdd(joined->self, node.self);
  });
  aligner.Align(base, [](const FlameNode& node, FlameDiffNode* joined) {
    joined->base_spans += node.spans;
    joined->base_total = SaturatingAdd(joined->base_total, node.total);
    joined->base_self = SaturatingAdd(joined->base_self, node.self);
  });
  return aligner.Take();
}

}  // namespace opscope

// Two flame trees as one, for a difference flame graph: each path of names once, with its values in a run and in the
// baseline.
//
//   run: a 20 (self 14) > b 6     baseline: a 15 (self 15) > c 0     difference: a 20 and 15, b 6 and 0, c 0 and 0
//
//   const FlameTree base = FoldSpans(before), tree = FoldSpans(after);
//   const FlameDiff diff = DiffFlameTrees(tree, base);
//   for (const FlameDiffNode& node : diff.nodes) Print(node.name, node.total - node.base_total);
//
// Thread rule: pure functions; a FlameDiff refers to strings of both Traces, which must outlive it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "opscope/analysis/flame.h"

namespace opscope {

// One path. All values of a run without the path are 0.
struct FlameDiffNode {
  // The last element of the path.
  std::string_view name;
  // Index of the parent. Node 0 is the root and its own parent.
  uint32_t parent = 0;
  // Of the run, or of the baseline if only that has the path.
  FlameKind kind = FlameKind::kOperator;
  // FlameNode::spans, total and self of the run.
  uint64_t spans = 0;
  int64_t total = 0, self = 0;
  // The same of the baseline.
  uint64_t base_spans = 0;
  int64_t base_total = 0, base_self = 0;
};

struct FlameDiff {
  FlameMetric metric = FlameMetric::kTime;
  // Parents before their children: the nodes of the run in their order, then the paths that only the baseline has.
  std::vector<FlameDiffNode> nodes;
};

// O(nodes). The metric is that of `tree`. REQUIRES: both trees have the same metric, and a root.
[[nodiscard]] FlameDiff DiffFlameTrees(const FlameTree& tree, const FlameTree& base);

}  // namespace opscope

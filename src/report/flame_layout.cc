// Places the boxes of a flame graph: a child lies upon its parent, siblings are sorted by name so that graphs of two
// runs compare. The tree is walked with an explicit stack, since paths may have 2,048 levels. A box narrower than a
// fraction of a pixel is dropped with everything upon it, which keeps the SVG of a million paths at some thousand
// boxes.
// SPDX-License-Identifier: Apache-2.0
#include "report/flame_layout.h"

#include <algorithm>

namespace opscope {
namespace {

struct Siblings {
  std::vector<uint32_t> first;  // first child by node; 0: none
  std::vector<uint32_t> next;   // next sibling by node; 0: none
};

// Links the children of each node in the order of the nodes.
Siblings LinkSiblings(const FlameTree& tree) {
  const size_t n = tree.nodes.size();
  Siblings siblings{std::vector<uint32_t>(n, 0), std::vector<uint32_t>(n, 0)};
  for (size_t i = n; i-- > 1;) {
    const uint32_t parent = tree.nodes[i].parent;
    siblings.next[i] = siblings.first[parent];
    siblings.first[parent] = static_cast<uint32_t>(i);
  }
  return siblings;
}

}  // namespace

FlameLayout LayOutFlame(const FlameTree& tree, double width, double narrowest) {
  FlameLayout layout;
  const int64_t all = tree.nodes.empty() ? 0 : tree.nodes[0].total;
  if (all <= 0) return layout;
  const Siblings siblings = LinkSiblings(tree);
  const double scale = width / static_cast<double>(all);
  std::vector<FlameBox> open = {{.node = 0, .depth = 0, .x = 0, .width = width}};
  std::vector<uint32_t> children;
  uint64_t with_value = 0;
  for (const FlameNode& node : tree.nodes)
    with_value += node.total > 0 ? 1 : 0;
  while (!open.empty()) {
    const FlameBox box = open.back();
    open.pop_back();
    layout.boxes.push_back(box);
    layout.levels = std::max(layout.levels, box.depth + 1);
    children.clear();
    for (uint32_t child = siblings.first[box.node]; child != 0; child = siblings.next[child]) {
      if (tree.nodes[child].total > 0) children.push_back(child);
    }
    std::sort(children.begin(), children.end(),
              [&](uint32_t a, uint32_t b) { return tree.nodes[a].name < tree.nodes[b].name; });
    double x = box.x;
    const size_t first = open.size();
    for (const uint32_t child : children) {
      const double child_width = static_cast<double>(tree.nodes[child].total) * scale;
      if (child_width >= narrowest)
        open.push_back({.node = child, .depth = box.depth + 1, .x = x, .width = child_width});
      x += child_width;
    }
    std::reverse(open.begin() + static_cast<ptrdiff_t>(first), open.end());
  }
  layout.too_narrow = with_value - layout.boxes.size();
  return layout;
}

}  // namespace opscope

// The call trees of a page. A tree that is too large keeps its heaviest nodes: a node is never heavier than its parent,
// so the nodes above a threshold are a tree again. What is left out is part of its parent's total but not of its self.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

constexpr std::string_view kTreeMetrics[] = {"time", "device_time", "memory", "flops", "count"};
constexpr std::string_view kTreeUnits[] = {"time", "time", "bytes", "amount", "number"};

// A tree with the heaviest `most` nodes of another one; of equally heavy ones the first, which have their parents.
std::vector<bool> HeaviestNodes(const FlameTree& tree, size_t most) {
  std::vector<bool> is_kept(tree.nodes.size(), true);
  if (tree.nodes.size() <= most) return is_kept;
  most = std::max<size_t>(1, most);
  std::vector<int64_t> falling;
  falling.reserve(tree.nodes.size());
  for (const FlameNode& node : tree.nodes)
    falling.push_back(node.total);
  std::nth_element(falling.begin(), falling.begin() + static_cast<ptrdiff_t>(most - 1), falling.end(),
                   std::greater<>());
  const int64_t least = falling[most - 1];
  auto of_least = static_cast<ptrdiff_t>(most) - std::count_if(tree.nodes.begin(), tree.nodes.end(),
                                                               [&](const auto& node) { return node.total > least; });
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const int64_t total = tree.nodes[i].total;
    is_kept[i] = total > least || (total == least && of_least-- > 0);
  }
  return is_kept;
}

void AppendPageTree(const FlameTree& tree, size_t most, PageStrings* strings, std::string* out) {
  const std::vector<bool> is_kept = HeaviestNodes(tree, most);
  IntegerColumn name, parent, kind, count, total, self;
  std::vector<uint32_t> number(tree.nodes.size(), 0);
  uint32_t kept = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const FlameNode& node = tree.nodes[i];
    const bool is_root = i == 0;
    if (!is_kept[i]) continue;
    number[i] = kept++;
    name.Add(strings->Of(node.name));
    parent.Add(is_root ? 0 : number[node.parent]);
    kind.Add(static_cast<int64_t>(node.kind));
    count.Add(static_cast<int64_t>(node.spans));
    total.Add(node.total);
    self.Add(node.self);
  }
  CompressColumns({&name, &parent, &kind, &count, &total, &self});
  JsonObject object(out);
  object.Text("metric", kTreeMetrics[static_cast<size_t>(tree.metric)]);
  object.Text("unit", kTreeUnits[static_cast<size_t>(tree.metric)]);
  const std::pair<std::string_view, const IntegerColumn*> columns[] = {
      {"name", &name}, {"parent", &parent}, {"kind", &kind}, {"count", &count}, {"total", &total}, {"self", &self}};
  for (const auto& [key, column] : columns)
    column->AppendJson(&object.Key(key));
  object.Uint("folded", tree.folded_nodes + (tree.nodes.size() - kept));
  object.Close();
}

}  // namespace

void AppendPageTrees(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < results.trees.size(); ++i) {
    const FlameTree& tree = results.trees[i];
    if (i > 0) *out += ",\n";
    const size_t begin = out->size(), share = max_bytes / results.trees.size();
    for (size_t most = tree.nodes.size();;) {
      AppendPageTree(tree, most, strings, out);
      const size_t bytes = out->size() - begin + strings->late_bytes();
      if (bytes <= share || most == 0) break;
      most = std::min(most / 2, most * share / bytes);
      strings->TakeBack();
      out->resize(begin);
    }
    strings->Keep();
  }
  *out += ']';
}

}  // namespace opscope

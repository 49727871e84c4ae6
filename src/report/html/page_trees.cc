// The call trees of a page, and those of a comparison. A tree that is too large keeps its heaviest nodes: a node is
// never heavier than its parent, so the nodes above a threshold are a tree again. What is left out is part of its
// parent's total but not of its self. In a comparison the weight is the larger total of both runs, so a path that only
// one run has stays if it is heavy there.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "report/html/integer_column.h"
#include "report/html/page_parts.h"

namespace opscope {
namespace {

constexpr std::string_view kTreeMetrics[] = {"time", "device_time", "memory", "flops", "count"};
constexpr std::string_view kTreeUnits[] = {"time", "time", "bytes", "amount", "number"};

int64_t WeightOf(const FlameNode& node) {
  return node.total;
}
int64_t WeightOf(const FlameDiffNode& node) {
  return std::max(node.total, node.base_total);
}

// The `most` heaviest nodes of a tree. Of equally heavy nodes the first are chosen, so the parent of each is chosen
// too.
template <typename Tree>
std::vector<bool> HeaviestNodes(const Tree& tree, size_t most) {
  std::vector<bool> is_kept(tree.nodes.size(), true);
  if (tree.nodes.size() <= most) return is_kept;
  most = std::max<size_t>(1, most);
  std::vector<int64_t> descending;
  descending.reserve(tree.nodes.size());
  for (const auto& node : tree.nodes)
    descending.push_back(WeightOf(node));
  std::nth_element(descending.begin(), descending.begin() + static_cast<ptrdiff_t>(most - 1), descending.end(),
                   std::greater<>());
  const int64_t least = descending[most - 1];
  auto of_least =
      static_cast<ptrdiff_t>(most) -
      std::count_if(tree.nodes.begin(), tree.nodes.end(), [&](const auto& node) { return WeightOf(node) > least; });
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const int64_t weight = WeightOf(tree.nodes[i]);
    is_kept[i] = weight > least || (weight == least && of_least-- > 0);
  }
  return is_kept;
}

struct TreeColumns {
  IntegerColumn name, parent, kind, count, total, self, base_count, base_total, base_self;
};

void AddValues(const FlameNode& node, TreeColumns* columns) {
  columns->count.Add(static_cast<int64_t>(node.spans));
  columns->total.Add(node.total);
  columns->self.Add(node.self);
}

void AddValues(const FlameDiffNode& node, TreeColumns* columns) {
  columns->count.Add(static_cast<int64_t>(node.spans));
  columns->total.Add(node.total);
  columns->self.Add(node.self);
  columns->base_count.Add(static_cast<int64_t>(node.base_spans));
  columns->base_total.Add(node.base_total);
  columns->base_self.Add(node.base_self);
}

template <typename Tree>
void AppendPageTree(const Tree& tree, size_t most, PageStrings* strings, std::string* out) {
  const std::vector<bool> is_kept = HeaviestNodes(tree, most);
  TreeColumns columns;
  std::vector<uint32_t> number(tree.nodes.size(), 0);
  uint32_t kept = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const auto& node = tree.nodes[i];
    const bool is_root = i == 0;
    if (!is_kept[i]) continue;
    number[i] = kept++;
    columns.name.Add(strings->Of(node.name));
    columns.parent.Add(is_root ? 0 : number[node.parent]);
    columns.kind.Add(static_cast<int64_t>(node.kind));
    AddValues(node, &columns);
  }
  JsonObject object(out);
  object.Text("metric", kTreeMetrics[static_cast<size_t>(tree.metric)]);
  object.Text("unit", kTreeUnits[static_cast<size_t>(tree.metric)]);
  std::vector<std::pair<std::string_view, IntegerColumn*>> written = {
      {"name", &columns.name},   {"parent", &columns.parent}, {"kind", &columns.kind},
      {"count", &columns.count}, {"total", &columns.total},   {"self", &columns.self}};
  if constexpr (std::is_same_v<Tree, FlameDiff>) {
    written.insert(
        written.end(),
        {{"base_count", &columns.base_count}, {"base_total", &columns.base_total}, {"base_self", &columns.base_self}});
  }
  std::vector<IntegerColumn*> compressed;
  compressed.reserve(written.size());
  for (const auto& [key, column] : written)
    compressed.push_back(column);
  CompressColumns(std::move(compressed));
  for (const auto& [key, column] : written)
    column->AppendJson(&object.Key(key));
  size_t folded = tree.nodes.size() - kept;
  if constexpr (std::is_same_v<Tree, FlameTree>) folded += tree.folded_nodes;
  object.Uint("folded", folded);
  object.Close();
}

template <typename Tree>
void AppendTreeList(const std::vector<Tree>& trees, size_t max_bytes, PageStrings* strings, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < trees.size(); ++i) {
    const Tree& tree = trees[i];
    if (i > 0) *out += ",\n";
    const size_t begin = out->size(), share = max_bytes / trees.size();
    for (size_t most = tree.nodes.size();;) {
      AppendPageTree(tree, most, strings, out);
      const size_t bytes = out->size() - begin + strings->uncommitted_bytes();
      if (bytes <= share || most == 0) break;
      most = std::min(most / 2, most * share / bytes);
      strings->RollBack();
      out->resize(begin);
    }
    strings->Commit();
  }
  *out += ']';
}

}  // namespace

void AppendPageTrees(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  AppendTreeList(results.trees, max_bytes, strings, out);
}

void AppendPageTreeDiffs(const PageResults& results, size_t max_bytes, PageStrings* strings, std::string* out) {
  AppendTreeList(results.tree_diffs, max_bytes, strings, out);
}

}  // namespace opscope

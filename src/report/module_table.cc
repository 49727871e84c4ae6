// The modules of a program as a tree: the columns of `opscope modules`. A row says the whole path of its module, so the
// paths of a deep nest would take quadratic memory; a path that is too long begins anew with "...".
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "opscope/report/modules.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// A node with what text tables show of it.
struct ModuleLine {
  std::string path;  // "Net_0.Linear_3"; "" for node 0
  std::string label;
  uint32_t depth = 0;
  ModuleRow took;
  int64_t whole_ns = 0;  // forward and backward time of all modules

  int64_t both_ns() const { return SaturatingAdd(took.forward_ns, took.backward_ns); }
};

constexpr ResultField<ModuleLine> kModuleFields[] = {
    {{"module", "", kText, "Path of calls: `Net_0.Sequential_1.Linear_3`; empty for the whole program."},
     [](const ModuleLine& m) { return m.path; }},
    {{"", "Module"}, [](const ModuleLine& m) { return m.label; }},
    {{"depth", "", kNumber, "Number of modules around it; 0 for the whole program."},
     [](const ModuleLine& m) { return m.depth; }},
    {{"calls", "Calls", kNumber, "Calls of the module, forward."}, [](const ModuleLine& m) { return m.took.calls; }},
    {{"ops", "Ops", kNumber, "Operators, forward and backward."}, [](const ModuleLine& m) { return m.took.ops; }},
    {{"self_ops", "", kNumber, "The same without the modules below it."},
     [](const ModuleLine& m) { return m.took.self_ops; }},
    {{"forward_ns", "Forward", kTime, "Time of the forward calls."},
     [](const ModuleLine& m) { return m.took.forward_ns; }},
    {{"forward_self_ns", "Forward self", kTime, "The same without the modules below it."},
     [](const ModuleLine& m) { return m.took.forward_self_ns; }},
    {{"backward_ns", "Backward", kTime, "Time of the backward functions of its operators.", kIfNonZero},
     [](const ModuleLine& m) { return m.took.backward_ns; }},
    {{"backward_self_ns", "Backward self", kTime, "The same without the modules below it.", kIfNonZero},
     [](const ModuleLine& m) { return m.took.backward_self_ns; }},
    {{"share", "Share", kShare, "Forward and backward time as a part of the program's."},
     [](const ModuleLine& m) { return ShareOf(m.both_ns(), m.whole_ns); }},
    {{"device_ns", "Device", kTime, "Time on devices that its operators launched.", kIfNonZero},
     [](const ModuleLine& m) { return m.took.device_ns; }},
    {{"device_self_ns", "", kTime, "The same without the modules below it."},
     [](const ModuleLine& m) { return m.took.device_self_ns; }},
    {{"memory_bytes", "Memory", kBytes, "Bytes that were allocated and not freed.", kIfNonZero},
     [](const ModuleLine& m) { return m.took.memory_bytes; }},
    {{"self_memory_bytes", "", kBytes, "The same without the modules below it."},
     [](const ModuleLine& m) { return m.took.self_memory_bytes; }},
    {{"flops", "FLOPs", kAmount, "Floating-point operations.", kIfNonZero},
     [](const ModuleLine& m) { return m.took.flops; }},
    {{"self_flops", "", kAmount, "The same without the modules below it."},
     [](const ModuleLine& m) { return m.took.self_flops; }},
};

// Nodes so that each is followed by those below it, siblings in order of first appearance.
std::vector<uint32_t> InOrder(const std::vector<ModuleNode>& nodes) {
  std::vector<uint32_t> first(nodes.size(), 0), next(nodes.size(), 0), order;
  for (size_t i = nodes.size(); i-- > 1;) {
    next[i] = first[nodes[i].parent];
    first[nodes[i].parent] = static_cast<uint32_t>(i);
  }
  for (uint32_t node = 0;;) {
    order.push_back(node);
    if (first[node] != 0) {
      node = first[node];
      continue;
    }
    while (node != 0 && next[node] == 0)
      node = nodes[node].parent;
    if (node == 0) return order;
    node = next[node];
  }
}

// The modules of a damaged file may be nested as deep as it has spans. Whole paths and indents would take memory
// quadratic in that.
constexpr size_t kLongestPath = 4096;
constexpr uint32_t kDeepestIndent = 100;

std::string IndentedName(const ModuleNode& node) {
  return node.depth == 0 ? "(all)" : std::string(2 * std::min(node.depth - 1, kDeepestIndent), ' ') + node.name;
}

// A path that is already too long begins anew: "....Linear_3".
std::string PathBelow(const std::string& around, const std::string& name) {
  return (around.size() <= kLongestPath ? around : "...") + "." + name;
}

}  // namespace

const ResultDescription& ModuleResult() {
  static const ResultDescription description =
      DescribeResult<ModuleLine>("modules", "rows", "A module at its place in the hierarchy of calls.", kModuleFields);
  return description;
}

ResultTable ModuleTable(const Trace& trace, const ModuleSummary& summary, bool is_tree) {
  std::vector<std::string> paths(summary.nodes.size());
  for (size_t node = 1; node < summary.nodes.size(); ++node) {
    const uint32_t parent = summary.nodes[node].parent;
    paths[node] = parent == 0 ? summary.nodes[node].name : PathBelow(paths[parent], summary.nodes[node].name);
  }
  const int64_t whole_ns = SaturatingAdd(summary.rows[0].forward_ns, summary.rows[0].backward_ns);
  std::vector<ModuleLine> lines;
  lines.reserve(paths.size());
  for (const uint32_t node : InOrder(summary.nodes)) {
    const bool is_indented = is_tree || node == 0;
    lines.push_back({.path = paths[node],
                     .label = is_indented ? IndentedName(summary.nodes[node]) : paths[node],
                     .depth = summary.nodes[node].depth,
                     .took = summary.rows[node],
                     .whole_ns = whole_ns});
  }
  return MakeResultTable<ModuleLine>(ModuleResult(), kModuleFields, trace, lines);
}

}  // namespace opscope

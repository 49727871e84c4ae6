// The modules of a program as an indented table, as CSV, and as "opscope.modules/1".
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "opscope/report/modules.h"
#include "report/row_table.h"

namespace opscope {
namespace {

struct ModuleField {
  std::string_view key;
  std::string_view title;
  RowUnit unit;
  int64_t (*value)(const ModuleRow& row);
};

constexpr ModuleField kFields[] = {
    {"calls", "Calls", RowUnit::kNumber, [](const ModuleRow& r) { return static_cast<int64_t>(r.calls); }},
    {"ops", "Ops", RowUnit::kNumber, [](const ModuleRow& r) { return static_cast<int64_t>(r.ops); }},
    {"self_ops", "", RowUnit::kNumber, [](const ModuleRow& r) { return static_cast<int64_t>(r.self_ops); }},
    {"forward_ns", "Forward", RowUnit::kTime, [](const ModuleRow& r) { return r.forward_ns; }},
    {"forward_self_ns", "Forward self", RowUnit::kTime, [](const ModuleRow& r) { return r.forward_self_ns; }},
};
constexpr ModuleField kBackward[] = {
    {"backward_ns", "Backward", RowUnit::kTime, [](const ModuleRow& r) { return r.backward_ns; }},
    {"backward_self_ns", "Backward self", RowUnit::kTime, [](const ModuleRow& r) { return r.backward_self_ns; }},
};
constexpr ModuleField kResources[] = {
    {"device_ns", "Device", RowUnit::kTime, [](const ModuleRow& r) { return r.device_ns; }},
    {"device_self_ns", "", RowUnit::kTime, [](const ModuleRow& r) { return r.device_self_ns; }},
    {"memory_bytes", "Memory", RowUnit::kBytes, [](const ModuleRow& r) { return r.memory_bytes; }},
    {"self_memory_bytes", "", RowUnit::kBytes, [](const ModuleRow& r) { return r.self_memory_bytes; }},
    {"flops", "FLOPs", RowUnit::kAmount, [](const ModuleRow& r) { return r.flops; }},
    {"self_flops", "", RowUnit::kAmount, [](const ModuleRow& r) { return r.self_flops; }},
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

std::string Label(const ModuleNode& node) {
  return node.depth == 0 ? "(all)" : std::string(2 * (node.depth - 1), ' ') + node.name;
}

void AddFields(const ModuleSummary& summary, const std::vector<uint32_t>& order, std::span<const ModuleField> fields,
               bool is_shown, RowTable* rows) {
  for (const ModuleField& field : fields) {
    std::vector<int64_t>& numbers = rows->Add(field.key, is_shown ? field.title : "", field.unit).numbers;
    for (const uint32_t node : order)
      numbers.push_back(field.value(summary.rows[node]));
  }
}

// In the order of the program and indented, or sorted, and then by path.
Result<RowTable> RowsOf(const ModuleSummary& summary, const RowOptions& options) {
  const std::vector<uint32_t> order = InOrder(summary.nodes);
  std::vector<std::string> paths(summary.nodes.size());
  for (size_t node = 1; node < summary.nodes.size(); ++node) {
    const uint32_t parent = summary.nodes[node].parent;
    paths[node] = parent == 0 ? summary.nodes[node].name : paths[parent] + "." + summary.nodes[node].name;
  }
  RowTable rows;
  const bool is_tree = options.sort.empty();
  std::vector<std::string> keys, labels;
  std::vector<int64_t> depths, both;
  for (const uint32_t node : order) {
    keys.push_back(paths[node]);
    labels.push_back(is_tree || node == 0 ? Label(summary.nodes[node]) : paths[node]);
    depths.push_back(summary.nodes[node].depth);
    both.push_back(summary.rows[node].forward_ns + summary.rows[node].backward_ns);
  }
  rows.AddTexts("module", "", std::move(keys));
  rows.AddTexts("", "Module", std::move(labels));
  rows.AddNumbers("depth", "", RowUnit::kNumber, std::move(depths));
  AddFields(summary, order, kFields, true, &rows);
  AddFields(summary, order, kBackward, summary.rows[0].backward_ns != 0, &rows);
  rows.AddShares("share", "Share", both, summary.rows[0].forward_ns + summary.rows[0].backward_ns);
  AddFields(summary, order, kResources, true, &rows);
  for (const char* key : {"device_ns", "memory_bytes", "flops"})
    rows.HideIfZero(key);
  if (!is_tree) OPSCOPE_TRY(rows.Sort(options.sort));
  return rows;
}

}  // namespace

Result<std::string> FormatModuleTable(const ModuleSummary& summary, const RowOptions& options) {
  Result<RowTable> rows = RowsOf(summary, options);
  if (!rows.ok()) return rows.error();
  return summary.nodes.size() < 2 ? std::string() : rows.value().ForPeople(options.limit, options.width);
}

Result<std::string> ModulesCsv(const ModuleSummary& summary, const RowOptions& options) {
  Result<RowTable> rows = RowsOf(summary, options);
  if (!rows.ok()) return rows.error();
  return rows.value().Csv(options.limit);
}

Result<std::string> ModulesJson(const Trace& trace, const ModuleSummary& summary, const Quality& quality,
                                const RowOptions& options) {
  Result<RowTable> rows = RowsOf(summary, options);
  if (!rows.ok()) return rows.error();
  return RowsJson("opscope.modules/1", trace, &rows.value(), options, &quality);
}

}  // namespace opscope

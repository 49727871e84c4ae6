// The modules of a program as an indented table, and as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/json_object.h"
#include "opscope/report.h"
#include "report/code_points.h"
#include "report/human_units.h"

namespace opscope {
namespace {

struct Column {
  std::string title;
  std::string (*text)(const ModuleRow& row, const ModuleRow& all);
  bool (*has_any)(const ModuleRow& all);  // null: always shown
};

std::string Share(int64_t part, int64_t whole) {
  return whole <= 0 ? "-" : FixedText(100.0 * static_cast<double>(part) / static_cast<double>(whole), 1) + "%";
}

constexpr auto kTime = [](int64_t ns) { return HumanTime(ns); };

const Column kColumns[] = {
    {"Calls", [](const ModuleRow& r, const ModuleRow&) { return std::to_string(r.calls); }, nullptr},
    {"Ops", [](const ModuleRow& r, const ModuleRow&) { return std::to_string(r.ops); }, nullptr},
    {"Forward", [](const ModuleRow& r, const ModuleRow&) { return kTime(r.forward_ns); }, nullptr},
    {"Forward self", [](const ModuleRow& r, const ModuleRow&) { return kTime(r.forward_self_ns); }, nullptr},
    {"Backward", [](const ModuleRow& r, const ModuleRow&) { return kTime(r.backward_ns); },
     [](const ModuleRow& all) { return all.backward_ns != 0; }},
    {"Backward self", [](const ModuleRow& r, const ModuleRow&) { return kTime(r.backward_self_ns); },
     [](const ModuleRow& all) { return all.backward_ns != 0; }},
    {"Share",
     [](const ModuleRow& r, const ModuleRow& all) {
       return Share(r.forward_ns + r.backward_ns, all.forward_ns + all.backward_ns);
     },
     nullptr},
    {"Device", [](const ModuleRow& r, const ModuleRow&) { return kTime(r.device_ns); },
     [](const ModuleRow& all) { return all.device_ns != 0; }},
    {"Memory", [](const ModuleRow& r, const ModuleRow&) { return HumanBytes(r.memory_bytes); },
     [](const ModuleRow& all) { return all.memory_bytes != 0; }},
    {"FLOPs", [](const ModuleRow& r, const ModuleRow&) { return HumanCount(r.flops); },
     [](const ModuleRow& all) { return all.flops != 0; }},
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
  if (node.depth == 0) return "(all)";
  std::string label(2 * (node.depth - 1), ' ');
  for (const char c : node.name)
    label += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return label;
}

}  // namespace

std::string FormatModuleTable(const ModuleSummary& summary) {
  if (summary.nodes.size() < 2) return {};
  const std::vector<uint32_t> order = InOrder(summary.nodes);
  const ModuleRow& all = summary.rows[0];
  std::vector<std::vector<std::string>> cells = {{"Module"}};  // by column: title, then rows
  std::vector<size_t> width = {CountCodePoints("Module")};
  for (const uint32_t node : order)
    cells[0].push_back(Label(summary.nodes[node]));
  for (const Column& column : kColumns) {
    if (column.has_any != nullptr && !column.has_any(all)) continue;
    cells.push_back({column.title});
    for (const uint32_t node : order)
      cells.back().push_back(column.text(summary.rows[node], all));
  }
  std::string table;
  for (size_t line = 0; line <= order.size(); ++line) {
    for (size_t c = 0; c < cells.size(); ++c) {
      if (line == 0) {
        size_t widest = 0;
        for (const std::string& cell : cells[c])
          widest = std::max(widest, CountCodePoints(cell));
        width.resize(cells.size());
        width[c] = widest;
      }
      if (c > 0) table += "  ";
      AppendPadded(cells[c][line], width[c], c == 0, &table);
    }
    table += '\n';
  }
  return table;
}

std::string ModulesJson(const Trace& trace, const ModuleSummary& summary) {
  std::string out;
  JsonObject object(&out);
  object.Text("schema", "opscope.modules/1");
  object.Key("rows");
  out += '[';
  bool is_first = true;
  std::vector<std::string> paths(summary.nodes.size());
  for (size_t node = 1; node < summary.nodes.size(); ++node) {
    const uint32_t parent = summary.nodes[node].parent;
    paths[node] = parent == 0 ? summary.nodes[node].name : paths[parent] + "." + summary.nodes[node].name;
  }
  for (const uint32_t node : InOrder(summary.nodes)) {
    const ModuleRow& row = summary.rows[node];
    if (!is_first) out += ',';
    is_first = false;
    JsonObject member(&out);
    member.Text("module", paths[node]);
    member.Uint("depth", summary.nodes[node].depth);
    member.Uint("calls", row.calls);
    member.Uint("ops", row.ops);
    member.Uint("self_ops", row.self_ops);
    member.Int("forward_ns", row.forward_ns);
    member.Int("forward_self_ns", row.forward_self_ns);
    member.Int("backward_ns", row.backward_ns);
    member.Int("backward_self_ns", row.backward_self_ns);
    member.Int("device_ns", row.device_ns);
    member.Int("device_self_ns", row.device_self_ns);
    member.Int("memory_bytes", row.memory_bytes);
    member.Int("self_memory_bytes", row.self_memory_bytes);
    member.Int("flops", row.flops);
    member.Int("self_flops", row.self_flops);
    member.Close();
  }
  out += ']';
  object.Key("problems");
  out += ProblemsJson(trace);
  object.Close();
  return out + "\n";
}

}  // namespace opscope

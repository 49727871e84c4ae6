// Finds the module (torch.nn.Module) in which each span ran, and what each module
// took, forward and backward. docs/reference/modules.md has the rules.
//
//   const ModuleSummary summary = SummarizeModules(trace);
//   for (size_t i = 1; i < summary.nodes.size(); ++i)
//     Print(summary.nodes[i].depth, summary.nodes[i].name, summary.rows[i].forward_ns);
//
// Thread rule: pure functions of an immutable Trace; results are plain values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// A module at one place of the call hierarchy: a module called by two others is two
// nodes.
struct ModuleNode {
  // "Linear_3"; of TorchScript "fc(Linear)"; "" for node 0, which stands for
  // "outside of all modules".
  std::string name;
  // Index of an earlier node; node 0 is its own parent.
  uint32_t parent = 0;
  // 0 for node 0.
  uint32_t depth = 0;
};

// The module of every span.
struct ModulesOfSpans {
  std::vector<ModuleNode> nodes;
  // By span: index into nodes; 0: outside of all modules.
  std::vector<uint32_t> node_of;
  // By span: 1 if it runs under a backward function.
  std::vector<uint8_t> is_backward;
  bool has_modules() const { return nodes.size() > 1; }
  // "Net_0.Sequential_1.Linear_3"; "" for node 0. O(bytes of the path).
  std::string PathOf(uint32_t node) const;
};

// A span belongs to the innermost module call around it. A span under a backward
// function belongs to the module of its forward operator
// (opscope/forward_operators.h). O(spans), and O(n log n) in the spans that are under
// backward functions or have a sequence number.
[[nodiscard]] ModulesOfSpans FindModules(const Trace& trace);

// Cost of one node. `self` numbers are without the modules below it. Times in
// nanoseconds.
struct ModuleRow {
  // Forward calls of the module.
  uint64_t calls = 0;
  // Operators, forward and backward.
  uint64_t self_ops = 0, ops = 0;
  int64_t forward_self_ns = 0, forward_ns = 0;
  int64_t backward_self_ns = 0, backward_ns = 0;
  int64_t device_self_ns = 0, device_ns = 0;
  int64_t self_memory_bytes = 0, memory_bytes = 0;
  int64_t self_flops = 0, flops = 0;
};

// Cost of every node.
struct ModuleSummary {
  std::vector<ModuleNode> nodes;
  // rows[i] belongs to nodes[i]; rows[0] is the sum of everything.
  std::vector<ModuleRow> rows;
};

// `selected`: one entry per span (SpanFilter::Select), only spans with 1 count;
// nullptr: all. Cost: as FindModules.
[[nodiscard]] ModuleSummary SummarizeModules(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope

// In which module (torch.nn.Module) each span ran, and what each module took, forward and backward.
// docs/analyses.md, "Modules", has the rules.
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

// A module where it stands in the hierarchy of calls: the same module called by two others is two nodes.
struct ModuleNode {
  std::string name;     // "Linear_3"; a module of TorchScript "fc(Linear)"; "" for node 0, which is outside of all
  uint32_t parent = 0;  // a node before this one; node 0 is its own
  uint32_t depth = 0;   // 0: node 0
};

struct ModulesOfSpans {
  std::vector<ModuleNode> nodes;
  std::vector<uint32_t> node_of;     // by span; 0: outside of all modules
  std::vector<uint8_t> is_backward;  // by span: runs under a backward function
  bool has_modules() const { return nodes.size() > 1; }
  std::string PathOf(uint32_t node) const;  // "Net_0.Sequential_1.Linear_3", "" for node 0
};

// A span is of the innermost module call around it. What runs under a backward function is of the module of its
// forward operator (opscope/forward_operators.h). O(n log n) in the spans under backward functions.
[[nodiscard]] ModulesOfSpans FindModules(const Trace& trace);

// What one node took; the `self` numbers are without the modules below it.
struct ModuleRow {
  uint64_t calls = 0;              // of the module, forward
  uint64_t self_ops = 0, ops = 0;  // operators, forward and backward
  int64_t forward_self_ns = 0, forward_ns = 0;
  int64_t backward_self_ns = 0, backward_ns = 0;
  int64_t device_self_ns = 0, device_ns = 0;
  int64_t self_memory_bytes = 0, memory_bytes = 0;
  int64_t self_flops = 0, flops = 0;
};

struct ModuleSummary {
  std::vector<ModuleNode> nodes;
  std::vector<ModuleRow> rows;  // of each node; rows[0]: all
};

// `selected`: of this Trace, one entry per span (SpanFilter::Select); only what spans with 1 took counts. nullptr: all.
[[nodiscard]] ModuleSummary SummarizeModules(const Trace& trace, const std::vector<uint8_t>* selected = nullptr);

}  // namespace opscope

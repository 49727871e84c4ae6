// The program as a graph of data: its outermost operators (and the allocations and frees between them) in order of
// time, and what each does to each storage: reads it, writes it, allocates it, frees it. A write makes a new version.
//
// Outermost means: the first below any ranges whose arguments fit an operator, or that autograd runs. What an operator
// calls in turn is part of it.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "opscope/torch/tensor_keys.h"
#include "opscope/trace.h"

namespace opscope {

struct FlowEdge {
  uint32_t key = 0;
  uint32_t version = 0;  // that the node finds; 0 when it allocates
  bool is_allocation = false;
  bool is_deletion = false;
  bool is_written = false;  // never with is_deletion

  bool is_input() const { return !is_allocation; }
  bool is_output() const { return is_written || (is_allocation && !is_deletion); }
  bool is_intermediate() const { return is_allocation && is_deletion; }
  uint32_t output_version() const { return is_allocation ? 0 : version + 1; }
};

struct FlowNode {
  Timestamp start;
  uint32_t first_edge = 0, edge_count = 0;
  bool is_backward = false;  // autograd runs it
};

struct DataFlow {
  std::vector<FlowNode> nodes;     // by start
  std::vector<FlowEdge> edges;     // of one node: by key
  std::vector<uint32_t> versions;  // by key: how many it has, at least 1

  std::span<const FlowEdge> edges_of(const FlowNode& node) const {
    return std::span(edges).subspan(node.first_edge, node.edge_count);
  }
};

[[nodiscard]] DataFlow BuildDataFlow(const Trace& trace, const TensorKeys& keys);

}  // namespace opscope

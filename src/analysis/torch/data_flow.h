// The program as a data-flow graph. Nodes are the outermost operators, and allocations and frees between them, in order
// of time. Edges are the effects of a node on storages: read, write, allocate, free. A write makes a new version.
//
// An operator is outermost if it is the first below any ranges whose arguments fit a schema, or that autograd runs. The
// operators that it calls are part of it.
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
  uint32_t version = 0;  // version before the node; 0 if it allocates
  bool is_allocation = false;
  bool is_deletion = false;
  bool is_written = false;  // never together with is_deletion

  bool is_input() const { return !is_allocation; }
  bool is_output() const { return is_written || (is_allocation && !is_deletion); }
  bool is_intermediate() const { return is_allocation && is_deletion; }
  uint32_t output_version() const { return is_allocation ? 0 : version + 1; }
};

struct FlowNode {
  Timestamp start;
  uint32_t first_edge = 0, edge_count = 0;
  bool is_backward = false;  // run by autograd
};

struct DataFlow {
  std::vector<FlowNode> nodes;     // by start
  std::vector<FlowEdge> edges;     // contiguous per node, by key
  std::vector<uint32_t> versions;  // number of versions by key, at least 1

  std::span<const FlowEdge> edges_of(const FlowNode& node) const {
    return std::span(edges).subspan(node.first_edge, node.edge_count);
  }
};

// O(rows log rows).
[[nodiscard]] DataFlow BuildDataFlow(const Trace& trace, const TensorKeys& keys);

}  // namespace opscope

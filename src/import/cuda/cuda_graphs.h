// Nodes of CUDA graphs among the work of devices: flows from a node to the nodes that wait for it, spans of nodes that
// record an event or run on the CPU, and the names that the program gave to nodes.
//
// Nodes without work (waits, empty nodes) are skipped: a flow begins at the last work before them. Within one launch, a
// node without such a flow gets the flow from the launching call; the other nodes have only flows from other nodes.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/cuda/cuda_calls.h"
#include "import/cuda/cuda_devices.h"
#include "import/cuda/cuda_record.h"
#include "trace/builder.h"

namespace opscope {

class CudaGraphs {
 public:
  explicit CudaGraphs(TraceBuilder* builder) : builder_(builder) {}

  // Names a node. members: members of "args" for each span of the node, as JSON without braces.
  void Name(uint64_t node, std::string members) { names_[node] = std::move(members); }
  // The members, preceded by a comma; empty if the node has no name.
  std::string MembersOf(uint64_t node) const;

  void AddEdge(const CudaGraphEdgeDetails& edge) { before_[edge.to].insert(edge.from); }
  void AddEventNode(const CudaGraphNodeDetails& node) { event_nodes_[node.node >> 32].push_back(node.node); }
  bool has_edges() const { return !before_.empty(); }
  bool has_event_nodes() const { return !event_nodes_.empty(); }

  // launch: the flow from the launching call; its id is 0 without such a flow.
  struct Work {
    uint64_t node = 0;
    uint32_t correlation = 0;
    AddedSpan span = AddedSpan::kNone;
    TrackId track = TrackId::kNone;
    Timestamp start = {}, end = {};
    FlowRow launch = {};
  };
  void AddWork(const Work& work) { works_.push_back(work); }
  // Any record of an event. Finish finds the records that belong to nodes of graphs.
  void AddEvent(const CudaRecord& record) { events_.push_back(record); }
  // A node that ran on the CPU. launch: its call, null if unknown. REQUIRES: CudaCalls::Place, if a call is given.
  void AddHostNode(const CudaRecord& record, const CudaCall* launch, CudaDevices* devices);

  // Adds the spans and flows of a window. devices: the tracks of its spans.
  void Finish(CudaDevices* devices);

 private:
  void AddEventSpans(CudaDevices* devices);
  void AddArrows();
  std::vector<const Work*> WorkBefore(const std::map<uint64_t, const Work*>& of_launch, uint64_t node) const;

  TraceBuilder* builder_;
  std::map<uint64_t, std::string> names_;                  // members, by node
  std::map<uint64_t, std::set<uint64_t>> before_;          // by node: the nodes that it waits for
  std::map<uint64_t, std::vector<uint64_t>> event_nodes_;  // by graph, in order
  std::vector<Work> works_;
  std::vector<CudaRecord> events_;
  uint64_t next_arrow_ = uint64_t{1} << 40;  // first flow id; above all correlation numbers
};

}  // namespace opscope

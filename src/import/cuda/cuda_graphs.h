// Nodes of CUDA's graphs among the work of devices: arrows from a node to those that wait for it, spans of nodes that
// record an event or run on the CPU, and what the program has called the nodes.
//
// Nodes that make no work (waits, empty ones) are passed over: an arrow leads from the last work before them. Within
// one launch a node that has no such arrow has the one from the launch; the others have theirs alone.
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

  // members: of the "args" of what the node does, as JSON without braces.
  void Name(uint64_t node, std::string members) { names_[node] = std::move(members); }
  // "" or these, behind a comma.
  std::string MembersOf(uint64_t node) const;

  void AddEdge(const CudaGraphEdgeDetails& edge) { before_[edge.to].insert(edge.from); }
  void AddEventNode(const CudaGraphNodeDetails& node) { event_nodes_[node.node >> 32].push_back(node.node); }
  bool has_edges() const { return !before_.empty(); }
  bool has_event_nodes() const { return !event_nodes_.empty(); }

  // launch: the arrow from the call, none where its id is 0.
  struct Work {
    uint64_t node = 0;
    uint32_t correlation = 0;
    AddedSpan span = AddedSpan::kNone;
    TrackId track = TrackId::kNone;
    Timestamp start = {}, end = {};
    FlowRow launch = {};
  };
  void AddWork(const Work& work) { works_.push_back(work); }
  // The record of an event while a graph ran, or of any other: which one is found out in Finish.
  void AddEvent(const CudaRecord& record) { events_.push_back(record); }
  // A node that ran on the CPU. launch: the call, null where it is not known; it is placed.
  void AddHostNode(const CudaRecord& record, const CudaCall* launch, CudaDevices* devices);

  // Adds spans and arrows of a window. devices: where its spans are.
  void Finish(CudaDevices* devices);

 private:
  void AddEventSpans(CudaDevices* devices);
  void AddArrows();
  std::vector<const Work*> WorkBefore(const std::map<uint64_t, const Work*>& of_launch, uint64_t node) const;

  TraceBuilder* builder_;
  std::map<uint64_t, std::string> names_;
  std::map<uint64_t, std::set<uint64_t>> before_;
  std::map<uint64_t, std::vector<uint64_t>> event_nodes_;  // by graph, in order
  std::vector<Work> works_;
  std::vector<CudaRecord> events_;
  uint64_t next_arrow_ = uint64_t{1} << 40;  // no number of a call
};

}  // namespace opscope

// The nodes and edges of CUDA graphs, from CUPTI's callbacks while graphs are built. CUPTI's activity records have only
// the number of a node. Graphs that were built before WatchGraphs are unknown.
//
// Instantiating a graph clones its nodes, and the clones are what runs. The edges of a clone are those between the
// nodes that it and its neighbours were cloned from. The upper half of a node's number is the number of its graph.
//
// Thread rule: any thread; CUPTI calls back on the program's threads while they make graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "sources/cuda/cupti_library.h"

namespace opscope::cuda {

struct KnownGraphs {
  std::vector<uint64_t> event_nodes;                 // they record an event; in order, of graphs without nested ones
  std::vector<std::pair<uint64_t, uint64_t>> edges;  // from a node to one that waits for it
};

class GraphRecorder {
 public:
  static GraphRecorder& Get();  // of this process; lives for ever

  // The callbacks of CUPTI that it lives on, by number of the domain kResource.
  static constexpr cupti::ResourceCallback kCallbacks[] = {
      cupti::ResourceCallback::kGraphDestroyStarting,
      cupti::ResourceCallback::kGraphNodeCreated,
      cupti::ResourceCallback::kGraphNodeDependencyCreated,
      cupti::ResourceCallback::kGraphExecDestroyStarting,
      cupti::ResourceCallback::kGraphNodeCloned,
  };
  // What a subscription is made with; takes no notice of what is none of these.
  static void OnCallback(void* unused, cupti::CallbackDomain domain, uint32_t callback, const void* data);

  // Nodes of graphs that are destroyed are kept until here, where a recording runs that their work is in.
  KnownGraphs TakeKnown(bool is_last);
  void KeepDestroyed();
  void Clear();

  // How much is held, for tests. clones: counted in what their originals know of them.
  struct Held {
    size_t nodes = 0, edges = 0, clones = 0;
  };
  Held CountHeld();

 private:
  struct Node {
    cupti::GraphNodeType type = cupti::GraphNodeType::kKernel;
    uint64_t original = 0;                // that it was cloned from; 0: it was not cloned, or that is unknown
    std::set<uint64_t> before, after;     // nodes of the same graph
    std::map<uint32_t, uint64_t> clones;  // by executable graph, while it exists
  };

  void Notice(cupti::ResourceCallback callback, const cupti::GraphData& data);
  void Connect(uint64_t from, uint64_t to) OPSCOPE_REQUIRES(mutex_);
  void AddClone(uint64_t original, uint64_t clone, cupti::GraphNodeType type) OPSCOPE_REQUIRES(mutex_);
  void Destroy(uint32_t graph);
  void Purge(uint32_t graph) OPSCOPE_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<uint64_t, Node> nodes_ OPSCOPE_GUARDED_BY(mutex_);  // in order of graphs
  bool keeps_destroyed_ OPSCOPE_GUARDED_BY(mutex_) = false;
  std::set<uint32_t> destroyed_ OPSCOPE_GUARDED_BY(mutex_);
};

}  // namespace opscope::cuda

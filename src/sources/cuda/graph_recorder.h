// Collects the nodes and edges of CUDA graphs from CUPTI's callbacks while the program builds the graphs. CUPTI's
// activity records have only the number of a node. Graphs that were built before WatchGraphs are unknown.
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
  std::vector<uint64_t> event_nodes;  // nodes that record an event, in order; only of graphs without nested graphs
  std::vector<std::pair<uint64_t, uint64_t>> edges;  // from a node to one that waits for it
};

class GraphRecorder {
 public:
  static GraphRecorder& Get();  // of this process; never destroyed

  // The callbacks of CUPTI that the recorder needs, of the domain kResource.
  static constexpr cupti::ResourceCallback kCallbacks[] = {
      cupti::ResourceCallback::kGraphDestroyStarting,
      cupti::ResourceCallback::kGraphNodeCreated,
      cupti::ResourceCallback::kGraphNodeDependencyCreated,
      cupti::ResourceCallback::kGraphExecDestroyStarting,
      cupti::ResourceCallback::kGraphNodeCloned,
  };
  // The callback function of the subscription; ignores all other callbacks.
  static void OnCallback(void* unused, cupti::CallbackDomain domain, uint32_t callback, const void* data);

  // Returns the known graphs. After KeepDestroyed, which a recording calls, nodes of destroyed graphs stay until the
  // last recording takes them.
  KnownGraphs TakeKnown(bool is_last);
  void KeepDestroyed();
  void Clear();

  // Sizes of the tables, for tests. clones: sum of the sizes of Node::clones.
  struct Sizes {
    size_t nodes = 0, edges = 0, clones = 0;
  };
  Sizes CountSizes();

 private:
  struct Node {
    cupti::GraphNodeType type = cupti::GraphNodeType::kKernel;
    uint64_t original = 0;                // from which it was cloned; 0: not a clone, or unknown
    std::set<uint64_t> before, after;     // nodes of the same graph
    std::map<uint32_t, uint64_t> clones;  // executable graph -> the clone in it
  };

  void Notice(cupti::ResourceCallback callback, const cupti::GraphData& data);
  void Connect(uint64_t from, uint64_t to) OPSCOPE_REQUIRES(mutex_);
  void AddClone(uint64_t original, uint64_t clone, cupti::GraphNodeType type) OPSCOPE_REQUIRES(mutex_);
  void Destroy(uint32_t graph);
  void Purge(uint32_t graph) OPSCOPE_REQUIRES(mutex_);

  Mutex mutex_;
  std::map<uint64_t, Node> nodes_ OPSCOPE_GUARDED_BY(mutex_);  // by number, so the nodes of a graph are adjacent
  bool keeps_destroyed_ OPSCOPE_GUARDED_BY(mutex_) = false;
  std::set<uint32_t> destroyed_ OPSCOPE_GUARDED_BY(mutex_);
};

}  // namespace opscope::cuda

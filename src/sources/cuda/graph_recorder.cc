// Instantiating a graph clones its nodes. CUPTI reports each clone with the node that it was cloned from, but no edges
// of clones. Edges are recorded for the original nodes and mapped to the clones.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/graph_recorder.h"

#include <algorithm>

#include "sources/streams/failures.h"

namespace opscope::cuda {
namespace {

using cupti::GraphNodeType;
using cupti::ResourceCallback;

constexpr uint64_t kNone = 0;

uint32_t GraphOf(uint64_t node) {
  return static_cast<uint32_t>(node >> 32);
}

uint64_t NumberOf(cupti::GraphNode node) {
  uint64_t number = kNone;
  const auto ask = LoadedCupti().call.GetGraphNodeId;
  if (node == nullptr || ask == nullptr || ask(node, &number) != cupti::Result::kSuccess) return kNone;
  return number;
}

// The work inside such a node has numbers after those of all other nodes, and may run any number of times.
bool IsNested(GraphNodeType type) {
  return type == GraphNodeType::kChildGraph || type == GraphNodeType::kConditional;
}

}  // namespace

GraphRecorder& GraphRecorder::Get() {
  static GraphRecorder& recorder = *new GraphRecorder;
  return recorder;
}

void GraphRecorder::OnCallback(void*, cupti::CallbackDomain domain, uint32_t callback, const void* data) {
  if (domain != cupti::CallbackDomain::kResource || data == nullptr) return;
  const auto which = static_cast<ResourceCallback>(callback);
  if (std::ranges::find(kCallbacks, which) == std::end(kCallbacks)) return;
  const auto* graph = static_cast<const cupti::GraphData*>(static_cast<const cupti::ResourceData*>(data)->descriptor);
  if (graph == nullptr) return;
  try {
    Get().Notice(which, *graph);
  } catch (...) {
    CountFailure();
  }
}

// Calls CUPTI before it takes the lock.
void GraphRecorder::Notice(ResourceCallback callback, const cupti::GraphData& data) {
  const CuptiFunctions& call = LoadedCupti().call;
  uint32_t graph = 0;
  switch (callback) {
    case ResourceCallback::kGraphNodeCreated: {
      const uint64_t node = NumberOf(data.node);
      const MutexLock lock(mutex_);
      if (node != kNone) nodes_[node].type = data.node_type;
      return;
    }
    case ResourceCallback::kGraphNodeDependencyCreated: {
      const uint64_t from = NumberOf(data.dependency), to = NumberOf(data.node);
      const MutexLock lock(mutex_);
      if (from != kNone && to != kNone) Connect(from, to);
      return;
    }
    case ResourceCallback::kGraphNodeCloned: {
      const uint64_t original = NumberOf(data.original_node), clone = NumberOf(data.node);
      const MutexLock lock(mutex_);
      if (original != kNone && clone != kNone) AddClone(original, clone, data.node_type);
      return;
    }
    case ResourceCallback::kGraphDestroyStarting:
      if (call.GetGraphId == nullptr || call.GetGraphId(data.graph, &graph) != cupti::Result::kSuccess) return;
      return Destroy(graph);
    case ResourceCallback::kGraphExecDestroyStarting:
      if (call.GetGraphExecId == nullptr || call.GetGraphExecId(data.exec, &graph) != cupti::Result::kSuccess) return;
      return Destroy(graph);
    default:
      return;
  }
}

void GraphRecorder::Connect(uint64_t from, uint64_t to) {
  if (nodes_[from].after.insert(to).second) nodes_[to].before.insert(from);
}

void GraphRecorder::AddClone(uint64_t original, uint64_t clone, GraphNodeType type) {
  Node& from = nodes_[original];
  from.clones.try_emplace(GraphOf(clone), clone);
  Node& added = nodes_[clone];
  added.type = type;
  added.original = original;
  const auto in_graph = [clone](const Node& neighbour) {
    const auto found = neighbour.clones.find(GraphOf(clone));
    return found == neighbour.clones.end() ? kNone : found->second;
  };
  // Neighbours that are cloned later find this clone.
  for (const uint64_t before : from.before) {
    if (const uint64_t neighbour = in_graph(nodes_[before]); neighbour != kNone) Connect(neighbour, clone);
  }
  for (const uint64_t after : from.after) {
    if (const uint64_t neighbour = in_graph(nodes_[after]); neighbour != kNone) Connect(clone, neighbour);
  }
}

void GraphRecorder::Destroy(uint32_t graph) {
  const MutexLock lock(mutex_);
  if (keeps_destroyed_) {
    destroyed_.insert(graph);
  } else {
    Purge(graph);
  }
}

// Also removes the clones from their originals: a program may instantiate a graph in every step.
void GraphRecorder::Purge(uint32_t graph) {
  const auto begin = nodes_.lower_bound(uint64_t{graph} << 32);
  const auto end = nodes_.lower_bound((uint64_t{graph} + 1) << 32);
  for (auto node = begin; node != end; ++node) {
    if (node->second.original == kNone) continue;
    if (const auto original = nodes_.find(node->second.original); original != nodes_.end()) {
      original->second.clones.erase(graph);
    }
  }
  nodes_.erase(begin, end);
}

void GraphRecorder::KeepDestroyed() {
  const MutexLock lock(mutex_);
  keeps_destroyed_ = true;
}

KnownGraphs GraphRecorder::TakeKnown(bool is_last) {
  const MutexLock lock(mutex_);
  KnownGraphs known;
  std::set<uint32_t> nested;
  for (const auto& [number, node] : nodes_) {
    for (const uint64_t after : node.after)
      known.edges.emplace_back(number, after);
    if (node.type == GraphNodeType::kEventRecord) known.event_nodes.push_back(number);
    if (IsNested(node.type)) nested.insert(GraphOf(number));
  }
  std::erase_if(known.event_nodes, [&](uint64_t node) { return nested.contains(GraphOf(node)); });
  if (is_last) {
    for (const uint32_t graph : destroyed_)
      Purge(graph);
    destroyed_.clear();
    keeps_destroyed_ = false;
  }
  return known;
}

void GraphRecorder::Clear() {
  const MutexLock lock(mutex_);
  nodes_.clear();
  destroyed_.clear();
  keeps_destroyed_ = false;
}

GraphRecorder::Sizes GraphRecorder::CountSizes() {
  const MutexLock lock(mutex_);
  Sizes sizes{.nodes = nodes_.size()};
  for (const auto& [number, node] : nodes_) {
    sizes.edges += node.after.size();
    sizes.clones += node.clones.size();
  }
  return sizes;
}

}  // namespace opscope::cuda

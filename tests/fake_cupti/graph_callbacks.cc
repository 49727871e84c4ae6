// The callbacks for CUDA graphs (a node was created, a graph was instantiated, ...) and the functions that a tool calls
// from within them to get the ids. Handles of graphs and nodes are the ids themselves, cast to pointers.
// SPDX-License-Identifier: Apache-2.0
#include "graph_callbacks.h"

#include "entry.h"
#include "session.h"

namespace fake {
namespace {

using cupti::Result;

template <class Handle>
Handle HandleOf(std::uint64_t number) {
  return reinterpret_cast<Handle>(number);
}

Result GetGraphNodeId(cupti::GraphNode node, std::uint64_t* id) {
  CALL(GetGraphNodeId, kAnywhere | Function::kQuiet, -1);
  if (node == nullptr || id == nullptr) return Result::kInvalidParameter;
  *id = reinterpret_cast<std::uint64_t>(node);
  return Result::kSuccess;
}

Result GetGraphId(cupti::Graph graph, std::uint32_t* id) {
  CALL(GetGraphId, kAnywhere | Function::kQuiet, -1);
  if (graph == nullptr || id == nullptr) return Result::kInvalidParameter;
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(graph));
  return Result::kSuccess;
}

Result GetGraphExecId(cupti::GraphExec graph, std::uint32_t* id) {
  CALL(GetGraphExecId, kAnywhere | Function::kQuiet, -1);
  if (graph == nullptr || id == nullptr) return Result::kInvalidParameter;
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(graph));
  return Result::kSuccess;
}

}  // namespace

void NotifyGraph(cupti::ResourceCallback callback, const GraphEvent& news) {
  const Session& session = TheSession();
  const cupti::CallbackFunction tell = session.callback.load(std::memory_order_acquire);
  const auto cbid = static_cast<std::uint32_t>(callback);
  if (tell == nullptr || !session.callbacks.contains({cupti::CallbackDomain::kResource, cbid})) return;
  cupti::GraphData graph{};
  graph.graph = HandleOf<cupti::Graph>(news.graph);
  graph.exec = HandleOf<cupti::GraphExec>(news.graph);
  graph.node = HandleOf<cupti::GraphNode>(news.node);
  graph.original_node = HandleOf<cupti::GraphNode>(news.original);
  graph.dependency = HandleOf<cupti::GraphNode>(news.dependency);
  graph.node_type = news.type;
  const cupti::ResourceData data{nullptr, nullptr, &graph};
  tell(session.user_data, cupti::CallbackDomain::kResource, cbid, &data);
}

}  // namespace fake

EXPORT(GetGraphNodeId)
EXPORT(GetGraphId)
EXPORT(GetGraphExecId)

// Graphs of the simulated CUDA: their nodes run one after the other on the stream that they are launched on.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <map>
#include <type_traits>
#include <variant>
#include <vector>

#include "calls.h"
#include "fake_cuda.h"
#include "fake_program.h"
#include "gpu.h"
#include "graph_callbacks.h"
#include "names.h"
#include "session.h"

namespace fake {
namespace {

using cupti::ActivityKind;

struct NoWork {};

struct Node {
  std::uint64_t duration_ns;
  cupti::GraphNodeType type;
  std::variant<cupti::Kernel9, cupti::Memcpy5, cupti::Memset4, cupti::CudaEvent2, cupti::GraphHostNode, NoWork> record;
};

struct Graphs {
  std::map<std::uint32_t, std::vector<Node>> graphs;
  std::uint32_t next = 1;
  std::uint64_t next_event_record = 5000;
};

Graphs& TheGraphs() {
  static Graphs& graphs = *new Graphs;
  return graphs;
}

std::uint64_t NodeId(std::uint32_t graph, std::size_t number) {
  return (std::uint64_t{graph} << 32) | number;
}

void SetIds(std::uint32_t graph, std::uint64_t id, Node* node) {
  std::visit(
      [&](auto& record) {
        if constexpr (requires { record.graph_node_id; }) {
          record.graph_id = graph;
          record.graph_node_id = id;
        }
      },
      node->record);
}

std::uint64_t AddNode(std::uint32_t graph, Node node) {
  std::uint64_t id = 0, before = 0;
  {
    const Locked lock("a graph's node");
    const auto found = TheGraphs().graphs.find(graph);
    if (found == TheGraphs().graphs.end()) return 0;
    id = NodeId(graph, found->second.size() + 1);
    before = found->second.empty() ? 0 : id - 1;
    SetIds(graph, id, &node);
    found->second.push_back(node);
  }
  NotifyGraph(cupti::ResourceCallback::kGraphNodeCreated, {.graph = graph, .node = id, .type = node.type});
  if (before != 0) {
    NotifyGraph(cupti::ResourceCallback::kGraphNodeDependencyCreated,
                {.graph = graph, .node = id, .dependency = before});
  }
  return id;
}

}  // namespace

void ResetGraphs() {
  TheGraphs() = {};
}

}  // namespace fake

using namespace fake;

std::uint32_t fake_cuda_graph_create() {
  const Locked lock("cudaGraphCreate");
  const std::uint32_t id = TheGraphs().next++;
  TheGraphs().graphs[id];
  return id;
}

std::uint64_t fake_cuda_graph_add_kernel(std::uint32_t graph, const char* name, std::uint64_t duration_ns) {
  cupti::Kernel9 kernel{};
  kernel.kind = ActivityKind::kConcurrentKernel;
  kernel.registers_per_thread = 32;
  kernel.grid_x = kernel.grid_y = kernel.grid_z = 1;
  kernel.block_x = 32;
  kernel.block_y = kernel.block_z = 1;
  kernel.name = name;
  return AddNode(graph, {duration_ns, cupti::GraphNodeType::kKernel, kernel});
}

std::uint64_t fake_cuda_graph_add_memcpy(std::uint32_t graph, std::uint32_t copy_kind, std::uint64_t bytes) {
  cupti::Memcpy5 copy{};
  copy.kind = ActivityKind::kMemcpy;
  copy.copy_kind = static_cast<cupti::MemcpyKind>(copy_kind);
  copy.source_kind = copy.destination_kind = static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
  copy.flags = cupti::kMemcpyAsync;
  copy.bytes = bytes;
  return AddNode(graph, {1000 + bytes / 25, cupti::GraphNodeType::kMemcpy, copy});
}

std::uint64_t fake_cuda_graph_add_memset(std::uint32_t graph, std::uint64_t bytes) {
  cupti::Memset4 set{};
  set.kind = ActivityKind::kMemset;
  set.bytes = bytes;
  set.memory_kind = static_cast<std::uint16_t>(cupti::MemoryKind::kDevice);
  return AddNode(graph, {1000 + bytes / 25, cupti::GraphNodeType::kMemset, set});
}

std::uint64_t fake_cuda_graph_add_event(std::uint32_t graph) {
  cupti::CudaEvent2 record{};
  record.first.kind = ActivityKind::kCudaEvent;
  record.first.event = 900;
  return AddNode(graph, {0, cupti::GraphNodeType::kEventRecord, record});
}

std::uint64_t fake_cuda_graph_add_wait(std::uint32_t graph) {
  return AddNode(graph, {0, cupti::GraphNodeType::kWaitEvent, NoWork{}});
}

std::uint64_t fake_cuda_graph_add_host(std::uint32_t graph, std::uint64_t duration_ns) {
  cupti::GraphHostNode node{};
  node.kind = ActivityKind::kGraphHostNode;
  node.process = static_cast<std::uint32_t>(getpid());
  node.thread = fake_cuda_host_thread();
  return AddNode(graph, {duration_ns, cupti::GraphNodeType::kHost, node});
}

std::uint32_t fake_cuda_host_thread() {
  return static_cast<std::uint32_t>(getpid()) + 1;
}

std::uint32_t fake_cuda_graph_instantiate(std::uint32_t graph) {
  std::uint32_t clone = 0;
  std::vector<Node> nodes;
  {
    const Locked lock("cudaGraphInstantiate");
    const auto found = TheGraphs().graphs.find(graph);
    if (found == TheGraphs().graphs.end()) return 0;
    clone = TheGraphs().next++;
    nodes = found->second;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      SetIds(clone, NodeId(clone, i + 1), &nodes[i]);
    TheGraphs().graphs[clone] = nodes;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    NotifyGraph(
        cupti::ResourceCallback::kGraphNodeCloned,
        {.graph = clone, .node = NodeId(clone, i + 1), .original = NodeId(graph, i + 1), .type = nodes[i].type});
  }
  return clone;
}

void fake_cuda_graph_destroy(std::uint32_t graph) {
  NotifyGraph(cupti::ResourceCallback::kGraphExecDestroyStarting, {.graph = graph});
  const Locked lock("cudaGraphExecDestroy");
  TheGraphs().graphs.erase(graph);
}

std::uint32_t fake_cuda_graph_launch(std::uint32_t graph, std::uint32_t stream) {
  ApiCall call(cupti::CallbackDomain::kRuntimeApi, kCudaGraphLaunch);
  Locked lock("cudaGraphLaunch");
  DeviceStream* const on = StreamOfWork(stream);
  const auto found = TheGraphs().graphs.find(graph);
  if (on == nullptr || found == TheGraphs().graphs.end()) return 0;
  WaitForRoom(*on, lock);
  // A trace of the graph hides its nodes.
  const bool as_a_whole = IsEnabled(ActivityKind::kGraphTrace);
  const bool is_queued = on->idle_from > Timestamp();
  Interval whole{0, 0};
  for (const Node& node : found->second) {
    const Interval when = Schedule(*on, call, node.duration_ns);
    whole = {whole.start == 0 ? when.start : whole.start, when.end};
    std::visit(
        [&](auto record) {
          using Work = decltype(record);
          if constexpr (std::is_same_v<Work, cupti::CudaEvent2>) {
            if (as_a_whole || !IsEnabled(record.first.kind)) return;
            record.device = on->device;
            record.first.context = on->context;
            record.first.stream = stream;
            record.first.correlation = call.correlation();
            record.event_sync_id = ++TheGraphs().next_event_record;
            Submit(*on, when, record);
          } else if constexpr (!std::is_same_v<Work, NoWork>) {
            if (as_a_whole || !IsEnabled(record.kind)) return;
            record.device = on->device;
            record.context = on->context;
            record.stream = stream;
            record.correlation = call.correlation();
            if constexpr (std::is_same_v<Work, cupti::GraphHostNode>) {
              if (is_queued) record.correlation = 0;
            }
            Submit(*on, when, record);
          }
        },
        node.record);
  }
  if (as_a_whole && whole.start != 0) {
    cupti::GraphTrace2 trace{};
    trace.first.kind = ActivityKind::kGraphTrace;
    trace.first.correlation = call.correlation();
    trace.first.device = trace.end_device = on->device;
    trace.first.graph = graph;
    trace.first.context = trace.end_context = on->context;
    trace.first.stream = stream;
    Submit(*on, whole, trace);
  }
  if (Now().order == Order::kDeviceFirst) Collect();
  call.Finish();
  return call.correlation();
}

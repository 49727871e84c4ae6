// Graphs of the simulated CUDA: their nodes run one after the other on the stream that they are launched on.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <variant>
#include <vector>

#include "calls.h"
#include "fake_cuda.h"
#include "fake_program.h"
#include "gpu.h"
#include "names.h"
#include "session.h"

namespace fake {
namespace {

using cupti::ActivityKind;

struct Node {
  std::uint64_t duration_ns;
  std::variant<cupti::Kernel9, cupti::Memcpy5, cupti::Memset4> record;
};

struct Graphs {
  std::map<std::uint32_t, std::vector<Node>> graphs;
  std::uint32_t next = 1;
};

Graphs& TheGraphs() {
  static Graphs& graphs = *new Graphs;
  return graphs;
}

std::uint64_t AddNode(std::uint32_t graph, Node node) {
  const Locked lock("a graph's node");
  const auto found = TheGraphs().graphs.find(graph);
  if (found == TheGraphs().graphs.end()) return 0;
  const std::uint64_t id = (std::uint64_t{graph} << 32) | (found->second.size() + 1);
  std::visit(
      [&](auto& record) {
        record.graph_id = graph;
        record.graph_node_id = id;
      },
      node.record);
  found->second.push_back(std::move(node));
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
  return AddNode(graph, {duration_ns, kernel});
}

std::uint64_t fake_cuda_graph_add_memcpy(std::uint32_t graph, std::uint32_t copy_kind, std::uint64_t bytes) {
  cupti::Memcpy5 copy{};
  copy.kind = ActivityKind::kMemcpy;
  copy.copy_kind = static_cast<cupti::MemcpyKind>(copy_kind);
  copy.source_kind = copy.destination_kind = static_cast<std::uint8_t>(cupti::MemoryKind::kDevice);
  copy.flags = cupti::kMemcpyAsync;
  copy.bytes = bytes;
  return AddNode(graph, {1000 + bytes / 25, copy});
}

std::uint64_t fake_cuda_graph_add_memset(std::uint32_t graph, std::uint64_t bytes) {
  cupti::Memset4 set{};
  set.kind = ActivityKind::kMemset;
  set.bytes = bytes;
  set.memory_kind = static_cast<std::uint16_t>(cupti::MemoryKind::kDevice);
  return AddNode(graph, {1000 + bytes / 25, set});
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
  Interval whole{0, 0};
  for (const Node& node : found->second) {
    const Interval when = Schedule(*on, call, node.duration_ns);
    whole = {whole.start == 0 ? when.start : whole.start, when.end};
    std::visit(
        [&](auto record) {
          if (as_a_whole || !IsEnabled(record.kind)) return;
          record.device = on->device;
          record.context = on->context;
          record.stream = stream;
          record.correlation = call.correlation();
          Submit(*on, when, record);
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

// `_core.paddle.NodeTrees`: a Trace as the event trees of paddle.profiler, one per thread. A node is an integer, and
// its attributes are read from the columns on access, so a tree of a million nodes costs no Python objects.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/paddle/node_trees.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "opscope/paddle/event_type.h"
#include "opscope/paddle/memory_events.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {
namespace {

struct Trees {
  std::shared_ptr<const Trace> trace;
  PaddleNodeTrees nodes;

  uint64_t UnixNs(Timestamp time) const { return trace->info().epoch_ns + static_cast<uint64_t>(time.ns); }
};

uint32_t Checked(uint32_t number, size_t count) {
  if (number >= count) throw nb::index_error();
  return number;
}

// (name, type, start, end in unix nanoseconds, correlation, members of a JSON object) of a span.
nb::tuple Event(const Trees& self, SpanId span, PaddleEventType type) {
  const SpanColumns spans = self.trace->spans();
  const uint32_t row = Row(span);
  return nb::make_tuple(ToText(self.trace->text(spans.name[row])), static_cast<int>(type),
                        self.UnixNs(spans.start[row]), self.UnixNs(spans.start[row] + spans.duration[row]),
                        spans.correlation[row], ToText(self.trace->text(spans.extra[row])));
}

nb::list Threads(const Trees& self) {
  nb::list threads;
  for (const PaddleThread& thread : self.nodes.threads)
    threads.append(nb::make_tuple(thread.process, thread.thread, thread.first_node));
  return threads;
}

nb::object Host(const Trees& self, uint32_t node) {
  Checked(node, self.nodes.size());
  if (self.nodes.is_root(node)) return nb::none();
  return Event(self, self.nodes.span[node], self.nodes.type[node]);
}

nb::list Children(const Trees& self, uint32_t node) {
  Checked(node, self.nodes.size());
  nb::list children;
  for (uint32_t child = node + 1; child < self.nodes.end[node]; child = self.nodes.end[child])
    children.append(child);
  return children;
}

nb::tuple Calls(const Trees& self, uint32_t node) {
  Checked(node, self.nodes.size());
  return nb::make_tuple(self.nodes.first_call[node], self.nodes.first_call[node + 1]);
}

nb::tuple Call(const Trees& self, uint32_t call) {
  return Event(self, self.nodes.call[Checked(call, self.nodes.call.size())], PaddleEventType::kCudaRuntime);
}

nb::list Devices(const Trees& self, uint32_t call) {
  Checked(call, self.nodes.call.size());
  const PaddleEventTypes types(*self.trace);
  nb::list devices;
  for (const SpanId span : self.nodes.devices_of(call))
    devices.append(Event(self, span, types.Of(Row(span))));
  return devices;
}

nb::list Memory(const Trees& self, uint32_t node) {
  Checked(node, self.nodes.size());
  nb::list events;
  for (const PaddleMemoryRow& row : self.nodes.memory_of(node)) {
    const PaddleMemoryEvent event = PaddleMemoryEventOf(*self.trace, row);
    events.append(nb::make_tuple(self.UnixNs(event.time), event.address, static_cast<int>(event.type),
                                 event.increase_bytes, ToText(event.place), event.current_allocated,
                                 event.current_reserved, event.peak_allocated, event.peak_reserved));
  }
  return events;
}

}  // namespace

void BindPaddleNodeTrees(nb::module_& module) {
  nb::class_<Trees>(module, "NodeTrees", "The trees of a trace's events, one per thread; nodes are numbers.")
      .def(
          "__init__",
          [](Trees* self, const SharedTrace& shared) {
            new (self) Trees{shared.trace, WithoutGil([&] { return BuildPaddleNodeTrees(*shared.trace); })};
          },
          nb::arg("trace"))
      .def("threads", &Threads, "(process, thread, root) of each thread.")
      .def("host", &Host, nb::arg("node"), "(name, type, start_ns, end_ns, correlation, members); None of a root.")
      .def("children", &Children, nb::arg("node"), "Nodes directly below.")
      .def("calls", &Calls, nb::arg("node"), "First and end of its calls of a device's runtime.")
      .def("call", &Call, nb::arg("call"), "As host() of a call.")
      .def("devices", &Devices, nb::arg("call"), "As host(), of what the call has launched.")
      .def("memory", &Memory, nb::arg("node"),
           "(time_ns, address, type, increase_bytes, place, current_allocated, current_reserved, peak_allocated, "
           "peak_reserved) of what was allocated and freed at it.");
}

}  // namespace opscope::python

// The memory timeline of a trace and the texts that are made of it.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/memory_timeline.h"

#include <nanobind/stl/string.h>

#include <string>

#include "opscope/report.h"
#include "python/bindings/torch/function_events.h"

namespace opscope::python {
namespace {

struct BoundTimeline {
  std::shared_ptr<const Trace> trace;
  MemoryTimeline timeline;

  MemoryByCategory Sums(int32_t device_type, int32_t device) const {
    return SumByCategory(timeline, {device_type, device}, trace->info().epoch_ns);
  }
};

}  // namespace

void BindTorchMemoryTimeline(nb::module_& module) {
  nb::class_<BoundTimeline>(module, "MemoryTimeline", "What memory held, by category; computed when it is made.")
      .def(
          "__init__",
          [](BoundTimeline* self, const SharedTrace& trace) {
            new (self) BoundTimeline{trace.trace, WithoutGil([&] { return BuildMemoryTimeline(*trace.trace); })};
          },
          nb::arg("trace"))
      .def_prop_ro("has_operators", [](const BoundTimeline& self) { return self.timeline.has_operators; })
      .def(
          "json",
          [](const BoundTimeline& self, int32_t device_type, int32_t device) {
            return WithoutGil([&] { return MemoryTimelineJson(self.Sums(device_type, device)); });
          },
          nb::arg("device_type"), nb::arg("device"), "Times and bytes by category, in torch's form.")
      .def(
          "raw_json",
          [](const BoundTimeline& self, int32_t device_type, int32_t device) {
            return WithoutGil([&] {
              return MemoryTimelineRawJson(self.timeline, {device_type, device}, self.trace->info().epoch_ns);
            });
          },
          nb::arg("device_type"), nb::arg("device"), "Each event, in torch's form.")
      .def(
          "html",
          [](const BoundTimeline& self, int32_t device_type, int32_t device, const std::string& title) {
            return WithoutGil([&] { return MemoryTimelineHtml(self.Sums(device_type, device), title); });
          },
          nb::arg("device_type"), nb::arg("device"), nb::arg("title"), "A page with a picture.");
}

}  // namespace opscope::python

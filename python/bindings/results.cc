// Results with rows, as tables and as JSON: modules, devices.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/analysis/device_report.h"
#include "opscope/analysis/devices.h"
#include "opscope/analysis/modules.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report.h"

namespace opscope::python {
namespace {

using Where = std::optional<std::string>;

// The text that `make` gives for the spans that `where` chooses.
template <typename Make>
nb::object TextOf(const SharedTrace& self, const Where& where, Make make) {
  return ToText(Unwrap(WithoutGil([&]() -> Result<std::string> {
    if (!where) return make(*self.trace, nullptr);
    const Result<SpanFilter> filter = SpanFilter::Parse(*where);
    if (!filter.ok()) return Error{filter.error().code, "where: " + filter.error().message};
    const std::vector<uint8_t> selected = filter.value().Select(*self.trace);
    return make(*self.trace, &selected);
  })));
}

using Selected = const std::vector<uint8_t>*;

Result<std::string> ReportJson(const Trace& trace, const DeviceReportOptions& options) {
  return DevicesJson(trace, MeasureDeviceReport(trace, options));
}

}  // namespace

void BindResults(nb::module_& module) {
  const auto define = [&](const char* name, auto make) {
    module.def(
        name, [make](const SharedTrace& self, const Where& where) { return TextOf(self, where, make); },
        nb::arg("trace"), nb::arg("where") = nb::none());
  };
  define("module_table",
         [](const Trace& trace, Selected spans) { return FormatModuleTable(SummarizeModules(trace, spans)); });
  define("modules_json", [](const Trace& trace, Selected spans) {
    return ModulesJson(trace, SummarizeModules(trace, spans), JudgeQuality(trace));
  });
  module.def(
      "device_table",
      [](const SharedTrace& self, const Where& where, int64_t kernel_gap_ns) {
        return TextOf(self, where, [&](const Trace& trace, Selected spans) {
          return FormatDeviceTable(trace, MeasureDevices(trace, {.selected = spans, .kernel_gap_ns = kernel_gap_ns}));
        });
      },
      nb::arg("trace"), nb::arg("where") = nb::none(), nb::arg("kernel_gap_ns") = DeviceOptions().kernel_gap_ns);
  module.def(
      "devices_json",
      [](const SharedTrace& self, const Where& where, int64_t kernel_gap_ns) {
        return TextOf(self, where, [&](const Trace& trace, Selected spans) {
          return ReportJson(trace, {.devices = true, .selected = spans, .kernel_gap_ns = kernel_gap_ns});
        });
      },
      nb::arg("trace"), nb::arg("where") = nb::none(), nb::arg("kernel_gap_ns") = DeviceOptions().kernel_gap_ns);
  define("device_kernels_json",
         [](const Trace& trace, Selected spans) { return ReportJson(trace, {.kernels = true, .selected = spans}); });
  module.def(
      "device_copies_json",
      [](const SharedTrace& self, const Where& where, uint64_t small_bytes) {
        return TextOf(self, where, [&](const Trace& trace, Selected spans) {
          return ReportJson(trace, {.copies = true, .selected = spans, .small_bytes = small_bytes});
        });
      },
      nb::arg("trace"), nb::arg("where") = nb::none(), nb::arg("small_bytes") = DeviceCopyOptions().small_bytes);
}

}  // namespace opscope::python

// Flame graphs of a Trace: files and folded stacks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/flame.h"

#include <nanobind/stl/string.h>

#include "bindings.h"
#include "opscope/export.h"
#include "opscope/report.h"

namespace opscope::python {
namespace {

FlameMetric MetricFrom(const std::string& name) {
  const std::optional<FlameMetric> metric = FlameMetricFromName(name);
  if (!metric) Raise(Error{ErrorCode::kInvalidArgument, "there is no metric '" + name + "'"});
  return *metric;
}

nb::object Folded(const SharedTrace& self, const std::string& metric_name) {
  const FlameMetric metric = MetricFrom(metric_name);
  return ToText(WithoutGil([&] { return FoldedStacks(FoldSpans(*self.trace, metric)); }));
}

void Write(const SharedTrace& self, nb::object path, const std::string& metric_name, nb::object title, double width,
           bool inverted) {
  const FlameMetric metric = MetricFrom(metric_name);
  const std::string name = FromPath(path);
  const FlameFile file = Unwrap(FlameFileFromName(name), path);
  FlameSvgOptions options;
  options.title = FromText(title);
  options.width = width;
  options.inverted = inverted;
  Unwrap(WithoutGil([&] {
           options.note = FormatQuality(JudgeQuality(*self.trace));
           const FlameTree tree = FoldSpans(*self.trace, metric);
           return WriteText(name, FlameFileText(tree, file, options));
         }),
         path);
}

}  // namespace

void BindFlame(nb::module_& module) {
  module.def("folded_stacks", &Folded, nb::arg("trace"), nb::arg("metric"));
  module.def("write_flame_graph", &Write, nb::arg("trace"), nb::arg("path"), nb::arg("metric"), nb::arg("title"),
             nb::arg("width"), nb::arg("inverted"), "SVG or folded stacks, by the ending of the name.");
}

}  // namespace opscope::python

// Paddle's summary.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "opscope/paddle/layers.h"
#include "opscope/paddle/node_trees.h"
#include "opscope/paddle/statistics.h"
#include "opscope/paddle/table.h"
#include "python/bindings/paddle/source.h"

namespace opscope::python {
namespace {

nb::object Summary(const SharedTrace& self, uint32_t sorted_by, bool op_detail, bool thread_sep, nb::object time_unit,
                   const std::optional<std::vector<uint32_t>>& views) {
  PaddleTableOptions options;
  if (sorted_by >= PaddleSortNames().size()) throw nb::value_error("no such sort key");
  options.sorted_by = static_cast<PaddleSort>(sorted_by);
  options.op_detail = op_detail;
  options.thread_sep = thread_sep;
  options.time_unit = FromText(nb::str(time_unit));
  if (views) options.views = 0;
  for (const uint32_t view : views.value_or(std::vector<uint32_t>())) {
    if (view >= PaddleViewNames().size()) throw nb::value_error("no such view");
    options.views |= 1u << view;
  }
  return ToText(WithoutGil([&] {
    const PaddleNodeTrees trees = BuildPaddleNodeTrees(*self.trace);
    return FormatPaddleSummary(*self.trace, ComputePaddleStatistics(*self.trace, trees), options);
  }));
}

nb::object Flops(const SharedTrace& self, int64_t repeat) {
  return ToText(WithoutGil(
      [&] { return FormatPaddleFlops(FindPaddleLayers(*self.trace, BuildPaddleNodeTrees(*self.trace)), repeat); }));
}

}  // namespace

void BindPaddleSummary(nb::module_& module) {
  module.def("summary", &Summary, nb::arg("trace"), nb::kw_only(), nb::arg("sorted_by") = 0,
             nb::arg("op_detail") = true, nb::arg("thread_sep") = false, nb::arg("time_unit") = "ms",
             nb::arg("views").none() = nb::none(),
             "What paddle.profiler.Profiler.summary prints; numbers of SortedKeys and SummaryView.");
  module.def("flops", &Flops, nb::arg("trace"), nb::arg("repeat") = 1, "What it prints behind that with with_flops.");
}

}  // namespace opscope::python

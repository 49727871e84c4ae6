// Limits of metrics. The rows are a table (OwnedTable), like those of other results.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/check.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "opscope/report.h"

namespace opscope::python {
namespace {

// Metric, kind of limit and number, as the command line writes them.
using LimitTexts = std::tuple<nb::object, nb::object, nb::object>;

[[noreturn]] void Refuse(const std::string& what) {
  Raise({ErrorCode::kInvalidArgument, what});
}

CheckLimit LimitOf(const LimitTexts& texts, bool has_baseline) {
  const std::string metric = TextArgument(std::get<0>(texts), "the name of a metric");
  const std::string kind_name = TextArgument(std::get<1>(texts), "the kind of a limit");
  const std::string number = TextArgument(std::get<2>(texts), "a limit");
  const std::optional<LimitKind> kind = LimitKindFromName(kind_name);
  if (!kind) Refuse(metric + ": there is no limit '" + kind_name + "'; known: min, max, max_increase, max_decrease");
  if (IsRelative(*kind) && !has_baseline) Refuse(metric + ": " + kind_name + " needs a baseline");
  Result<CheckLimit> limit = ParseCheckLimit(metric, *kind, number);
  if (!limit.ok()) Refuse(metric + ": " + kind_name + ": " + limit.error().message);
  return std::move(limit).value();
}

ComputedTable Check(const SharedTrace& self, const std::vector<LimitTexts>& limit_texts, nb::handle baseline_trace) {
  const Trace* const baseline =
      baseline_trace.is_none() ? nullptr : nb::cast<const SharedTrace&>(baseline_trace).trace.get();
  std::vector<CheckLimit> limits;
  limits.reserve(limit_texts.size());
  for (const LimitTexts& texts : limit_texts)
    limits.push_back(LimitOf(texts, baseline != nullptr));
  return ToComputedTable(WithoutGil([&] { return CheckTable(CheckTrace(*self.trace, baseline, limits)).ToTable(); }));
}

}  // namespace

void BindCheck(nb::module_& module) {
  module.def("check", &Check, nb::arg("trace"), nb::arg("limits"), nb::arg("baseline").none() = nb::none(),
             "Compares metrics with limits (metric, kind, number): a row per limit.");
}

}  // namespace opscope::python

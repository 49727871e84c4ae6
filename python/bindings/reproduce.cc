// The script that runs one recorded operator again.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/reproduce.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <vector>

#include "bindings.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report/reproduce.h"

namespace opscope::python {
namespace {

Result<std::string> ScriptOf(const Trace& trace, const std::optional<std::string>& where) {
  std::vector<uint8_t> selected;
  if (where) {
    const Result<SpanFilter> filter = ParseWhere(*where);
    if (!filter.ok()) return filter.error();
    selected = filter.value().Select(trace);
  }
  const Result<RecordedCall> call = ChooseCall(trace, where ? &selected : nullptr);
  if (!call.ok()) return call.error();
  return ReproduceScript(trace, call.value(), "");
}

nb::object Reproduce(const SharedTrace& self, nb::handle where) {
  const std::optional<std::string> condition = WhereArgument(where);
  return ToText(Unwrap(WithoutGil([&] { return ScriptOf(*self.trace, condition); })));
}

}  // namespace

void BindReproduce(nb::module_& module) {
  module.def("reproduce", &Reproduce, nb::arg("trace"), nb::arg("where").none() = nb::none());
}

}  // namespace opscope::python

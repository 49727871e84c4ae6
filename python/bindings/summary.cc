// The operator summary as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"
#include "opscope/report.h"

namespace opscope::python {
namespace {

GroupKey GroupKeyOf(const std::string& name) {
  if (const std::optional<GroupKey> key = GroupKeyFromName(name)) return *key;
  std::string known;
  for (const std::string_view key : GroupKeyNames())
    known.append(known.empty() ? "" : ", ").append(key);
  Raise({ErrorCode::kInvalidArgument, "cannot group by '" + name + "'; known: " + known});
}

nb::object SummaryText(const SharedTrace& self, const std::vector<std::string>& group_by, const std::string& sort,
                       std::optional<size_t> limit, bool corrected, const std::optional<std::string>& where) {
  OpSummaryOptions options;
  options.group_by.clear();
  for (const std::string& name : group_by)
    options.group_by.push_back(GroupKeyOf(name));
  return ToText(Unwrap(WithoutGil([&]() -> Result<std::string> {
    Result<OwnCostOfSpans> own_cost = OwnCostOfSpans{};
    if (corrected) {
      own_cost = MeasureOwnCost(*self.trace);
      if (!own_cost.ok()) return own_cost.error();
      options.own_cost = &own_cost.value();
    }
    std::vector<uint8_t> selected;
    if (where) {
      const Result<SpanFilter> filter = SpanFilter::Parse(*where);
      if (!filter.ok()) return Error{filter.error().code, "where: " + filter.error().message};
      selected = filter.value().Select(*self.trace);
      options.selected = &selected;
    }
    OpSummary summary = SummarizeOps(*self.trace, options);
    OPSCOPE_TRY(SortOpSummary(*self.trace, &summary, sort));
    if (limit && *limit < summary.rows.size()) summary.rows.resize(*limit);
    return SummaryJson(*self.trace, summary, JudgeQuality(*self.trace));
  })));
}

}  // namespace

void BindSummary(nb::module_& module) {
  module.def("summary_json", &SummaryText, nb::arg("trace"), nb::arg("group_by"), nb::arg("sort"),
             nb::arg("limit").none(), nb::arg("corrected") = false, nb::arg("where").none() = nb::none(),
             "opscope.summary/1 with at most `limit` rows.");
}

}  // namespace opscope::python

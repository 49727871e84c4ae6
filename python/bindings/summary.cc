// The operator summary as Python rows.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/analysis/span_filter.h"

namespace opscope::python {
namespace {

struct NamedKey {
  const char* name;
  GroupKey key;
};
constexpr NamedKey kGroupKeys[] = {
    {"name", GroupKey::kName},     {"shape", GroupKey::kShape},   {"category", GroupKey::kCategory},
    {"thread", GroupKey::kThread}, {"device", GroupKey::kDevice}, {"stack", GroupKey::kStack},
    {"module", GroupKey::kModule},
};

GroupKey GroupKeyOf(const std::string& name) {
  std::string known;
  for (const NamedKey& entry : kGroupKeys) {
    if (name == entry.name) return entry.key;
    known.append(known.empty() ? "" : ", ").append(entry.name);
  }
  Raise({ErrorCode::kInvalidArgument, "cannot group by '" + name + "'; known: " + known});
}

// One dict: the group's keys in the order asked for, then the numbers.
nb::dict RowDict(const Trace& trace, const OpSummaryRow& row, const std::vector<std::string>& group_by) {
  nb::dict result;
  size_t further = 0;
  for (const std::string& key : group_by) {
    result[key.c_str()] = ToText(key == "name" ? trace.text(row.name) : std::string_view(row.keys[further++]));
  }
  result["count"] = row.count;
  result["total_ns"] = row.total_ns;
  result["self_ns"] = row.self_ns;
  result["min_ns"] = row.min_ns;
  result["max_ns"] = row.max_ns;
  result["mean_ns"] = row.mean_ns();
  result["p50_ns"] = row.p50_ns;
  result["p99_ns"] = row.p99_ns;
  result["stddev_ns"] = row.stddev_ns;
  result["total_with_recursion_ns"] = row.total_with_recursion_ns;
  result["device_total_ns"] = row.device_total_ns;
  result["device_self_ns"] = row.device_self_ns;
  result["self_memory_bytes"] = row.self_memory_bytes;
  result["flops"] = row.flops;
  result["flops_per_s"] = row.flops_per_s();
  return result;
}

nb::list Summary(const SharedTrace& self, const std::vector<std::string>& group_by, const std::string& sort,
                 std::optional<size_t> limit, bool corrected, const std::optional<std::string>& where) {
  OpSummaryOptions options;
  options.group_by.clear();
  for (const std::string& name : group_by)
    options.group_by.push_back(GroupKeyOf(name));
  OpSummary summary;
  Unwrap(WithoutGil([&] {
    Result<OwnCostOfSpans> own_cost = OwnCostOfSpans{};
    if (corrected) {
      own_cost = MeasureOwnCost(*self.trace);
      if (!own_cost.ok()) return Status(own_cost.error());
      options.own_cost = &own_cost.value();
    }
    std::vector<uint8_t> selected;
    if (where) {
      const Result<SpanFilter> filter = SpanFilter::Parse(*where);
      if (!filter.ok()) return Status(Error{filter.error().code, "where: " + filter.error().message});
      selected = filter.value().Select(*self.trace);
      options.selected = &selected;
    }
    summary = SummarizeOps(*self.trace, options);
    return SortOpSummary(*self.trace, &summary, sort);
  }));
  if (limit && *limit < summary.rows.size()) summary.rows.resize(*limit);
  nb::list rows;
  for (const OpSummaryRow& row : summary.rows)
    rows.append(RowDict(*self.trace, row, group_by));
  return rows;
}

}  // namespace

void BindSummary(nb::module_& module) {
  module.def("summary", &Summary, nb::arg("trace"), nb::arg("group_by"), nb::arg("sort"), nb::arg("limit").none(),
             nb::arg("corrected") = false, nb::arg("where").none() = nb::none(),
             "Rows of the operator summary as dicts; at most `limit`.");
}

}  // namespace opscope::python

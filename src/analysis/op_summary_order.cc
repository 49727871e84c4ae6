// The order of the rows of an operator summary.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "analysis/step_names.h"
#include "opscope/analysis/op_summary.h"

namespace opscope {
namespace {

struct SortField {
  std::string_view name;
  int64_t (*value)(const OpSummaryRow&);
};
constexpr std::array<SortField, 14> kSortFields = {{
    {"count", [](const OpSummaryRow& r) { return static_cast<int64_t>(r.count); }},
    {"total_ns", [](const OpSummaryRow& r) { return r.total_ns; }},
    {"self_ns", [](const OpSummaryRow& r) { return r.self_ns; }},
    {"min_ns", [](const OpSummaryRow& r) { return r.min_ns; }},
    {"max_ns", [](const OpSummaryRow& r) { return r.max_ns; }},
    {"mean_ns", [](const OpSummaryRow& r) { return r.mean_ns(); }},
    {"p50_ns", [](const OpSummaryRow& r) { return r.p50_ns; }},
    {"p99_ns", [](const OpSummaryRow& r) { return r.p99_ns; }},
    {"stddev_ns", [](const OpSummaryRow& r) { return r.stddev_ns; }},
    {"total_with_recursion_ns", [](const OpSummaryRow& r) { return r.total_with_recursion_ns; }},
    {"device_total_ns", [](const OpSummaryRow& r) { return r.device_total_ns; }},
    {"device_self_ns", [](const OpSummaryRow& r) { return r.device_self_ns; }},
    {"self_memory_bytes", [](const OpSummaryRow& r) { return r.self_memory_bytes; }},
    {"flops", [](const OpSummaryRow& r) { return r.flops; }},
}};

}  // namespace

std::string_view OpSummary::NameOf(const Trace& trace, const OpSummaryRow& row) const {
  const std::string_view name = trace.text(row.name);
  return joins_steps ? NameOfAllSteps(name).value_or(name) : name;
}

Status SortOpSummary(const Trace& trace, OpSummary* summary, std::string_view field) {
  if (field == "name") {
    std::stable_sort(summary->rows.begin(), summary->rows.end(), [&](const OpSummaryRow& a, const OpSummaryRow& b) {
      return summary->NameOf(trace, a) < summary->NameOf(trace, b);
    });
    return {};
  }
  for (const SortField& known : kSortFields) {
    if (known.name != field) continue;
    std::stable_sort(summary->rows.begin(), summary->rows.end(),
                     [&](const OpSummaryRow& a, const OpSummaryRow& b) { return known.value(a) > known.value(b); });
    return {};
  }
  std::string names = "name";
  for (const SortField& known : kSortFields)
    names += ", " + std::string(known.name);
  return Error{ErrorCode::kInvalidArgument, "cannot sort by '" + std::string(field) + "'; choose one of: " + names};
}

}  // namespace opscope

// "opscope.summary/1".
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/json_object.h"
#include "opscope/report.h"
#include "report/own_cost.h"

namespace opscope {

std::string SummaryJson(const Trace& trace, const OpSummary& summary, size_t limit) {
  std::string out;
  JsonObject document(&out);
  document.Text("schema", "opscope.summary/1");
  if (summary.correction) {
    document.Key("corrected");
    out += "true";
    document.Uint("spans_below_zero", summary.correction->below_zero);
    document.Key("own_cost");
    out += OwnCostJson(trace, *summary.correction);
  }
  document.Key("rows");
  out += '[';
  const size_t count = limit == 0 ? summary.rows.size() : std::min(limit, summary.rows.size());
  for (size_t i = 0; i < count; ++i) {
    const OpSummaryRow& row = summary.rows[i];
    out += i == 0 ? "\n" : ",\n";
    JsonObject object(&out);
    if (summary.has_name) object.Text("name", trace.text(row.name));
    for (size_t key = 0; key < summary.key_names.size(); ++key)
      object.Text(summary.key_names[key], row.keys[key]);
    object.Uint("count", row.count);
    object.Int("total_ns", row.total_ns);
    object.Int("self_ns", row.self_ns);
    object.Int("min_ns", row.min_ns);
    object.Int("max_ns", row.max_ns);
    object.Int("mean_ns", row.mean_ns());
    object.Int("p50_ns", row.p50_ns);
    object.Int("p99_ns", row.p99_ns);
    object.Int("stddev_ns", row.stddev_ns);
    object.Int("total_with_recursion_ns", row.total_with_recursion_ns);
    object.Int("device_total_ns", row.device_total_ns);
    object.Int("device_self_ns", row.device_self_ns);
    object.Int("self_memory_bytes", row.self_memory_bytes);
    object.Int("flops", row.flops);
    object.Int("flops_per_s", static_cast<int64_t>(row.flops_per_s()));
    object.Close();
  }
  out += "\n]";
  document.Key("problems");
  out += ProblemsJson(trace);
  document.Close();
  return out + "\n";
}

}  // namespace opscope

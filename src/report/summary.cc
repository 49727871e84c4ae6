// The operator summary and the asynchronous spans: the columns of `opscope summary`. Each column is described once
// (key, title, unit, getter); text, CSV and JSON are made from the description.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/summary.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "report/overhead.h"
#include "report/result_units.h"

namespace opscope {
namespace {

using namespace result_units;

// A row beside the sums that its shares refer to.
struct SummaryLine {
  const OpSummary* summary;
  const OpSummaryRow* row;
  double peak_flops = 0;
};

using Line = SummaryLine;

constexpr ResultField<Line> kName = {
    {"name", "Name", kText, "Name of the spans."},
    [](const Trace& trace, const Line& line) { return line.summary->NameOf(trace, *line.row); }};

// By the names of GroupKeyNames(); those of --group-by stand behind the name.
constexpr ResultColumn kGroupColumns[] = {
    {"shape", "shape", kText, "Shapes of the inputs. With `--group-by shape`."},
    {"category", "category", kText, "Category in the words of the input. With `--group-by category`."},
    {"thread", "thread", kText, "Name of the thread or stream. With `--group-by thread`."},
    {"device", "device", kText, "Number of the device. With `--group-by device`."},
    {"stack", "stack", kText, "Call stack, outermost frame first. With `--group-by stack`."},
    {"module", "module", kText, "Path of the torch.nn.Module. With `--group-by module`."},
    {"kind", "kind", kText, "Kind of the span (docs/reference/span_kinds.md). With `--group-by kind`."},
    {"process", "process", kText, "Name of the process. With `--group-by process`."},
    {"rank", "rank", kText, "Rank of the process. With `--group-by rank`."},
    {"step", "step", kText, "Number of the step in which the span begins. With `--group-by step`."},
};

constexpr const char *kSideTitle = "On", *kRateKey = "flops_per_s", *kPeakTitle = "% of peak";

constexpr ResultField<Line> kSummaryFields[] = {
    {{"", kSideTitle}, [](const Line& line) { return line.row->on_device ? "device" : "host"; }},
    {{"count", "Count", kNumber, "Number of spans."}, [](const Line& line) { return line.row->count; }},
    {{"total_ns", "Total", kTime, "Time of the spans that do not lie inside a span of the same row on the same track."},
     [](const Line& line) { return line.row->total_ns; }},
    {{"self_ns", "Self", kTime, "Time without direct children."}, [](const Line& line) { return line.row->self_ns; }},
    {{"self_share", "Self %", kShare, "Self time on threads as a part of that of all spans."},
     [](const Line& line) { return line.summary->ShareOf(*line.row); }},
    {{"", "Device total", kTime, "", kIfNonZero}, [](const Line& line) { return line.row->device_total_ns; }},
    {{"", "Device self", kTime, "", kIfNonZero}, [](const Line& line) { return line.row->device_self_ns; }},
    {{"", "Device %", kShare, "", kIfKnown},
     [](const Line& line) { return ShareOf(line.row->device_self_ns, line.summary->device_self_ns); }},
    {{"mean_ns", "Mean", kTime, "`total_with_recursion_ns` over `count`, rounded down."},
     [](const Line& line) { return line.row->mean_ns(); }},
    {{"min_ns", "Min", kTime, "Shortest duration."}, [](const Line& line) { return line.row->min_ns; }},
    {{"p50_ns", "P50", kTime, "Half of the durations are not longer."},
     [](const Line& line) { return line.row->p50_ns; }},
    {{"p99_ns", "P99", kTime, "99 of 100 durations are not longer."},
     [](const Line& line) { return line.row->p99_ns; }},
    {{"max_ns", "Max", kTime, "Longest duration."}, [](const Line& line) { return line.row->max_ns; }},
    {{"stddev_ns", "Std dev", kTime, "Standard deviation of the durations (of the population)."},
     [](const Line& line) { return line.row->stddev_ns; }},
    {{"total_with_recursion_ns", "", kTime, "Plain sum of the durations, which torch's table shows."},
     [](const Line& line) { return line.row->total_with_recursion_ns; }},
    {{"device_total_ns", "", kTime, "Host: time on devices launched beneath the spans. Device: their total time."},
     [](const Line& line) { return line.row->device_total_ns; }},
    {{"device_self_ns", "", kTime, "Host: time on devices launched by the spans themselves. Device: their self time."},
     [](const Line& line) { return line.row->device_self_ns; }},
    {{"self_memory_bytes", "Self memory", kBytes, "Bytes allocated less bytes freed while the span was innermost.",
      kIfNonZero},
     [](const Line& line) { return line.row->self_memory_bytes; }},
    {{"flops", "FLOPs", kAmount, "Floating-point operations.", kIfNonZero},
     [](const Line& line) { return line.row->flops; }},
    {{kRateKey, "FLOP/s", kAmount,
      "`flops` per second of the device time, or of the thread's time if no device was used.", kIfNonZero},
     [](const Line& line) { return line.row->flops_per_s(); }},
    {{"", kPeakTitle, kShare, "", kIfKnown},
     [](const Line& line) -> std::optional<double> {
       const double rate = line.row->flops_per_s();
       if (rate == 0 || line.peak_flops <= 0) return std::nullopt;
       return rate / line.peak_flops;
     }},
    {{"on", "", kText, "`host` or `device`: a row never has spans of both."},
     [](const Line& line) { return line.row->on_device ? "device" : "host"; }},
};

constexpr ResultField<AsyncSummaryRow> kAsyncFields[] = {
    {{"name", "Asynchronous", kText, "Name of the spans."},
     [](const Trace& trace, const AsyncSummaryRow& r) { return trace.text(r.name); }},
    {{"count", "Count", kNumber, "Number of spans."}, [](const AsyncSummaryRow& r) { return r.count; }},
    {{"total_ns", "Total", kTime, "Sum of the durations."}, [](const AsyncSummaryRow& r) { return r.total_ns; }},
    {{"mean_ns", "Mean", kTime, "`total_ns` over `count`, rounded down."},
     [](const AsyncSummaryRow& r) { return r.mean_ns(); }},
    {{"min_ns", "Min", kTime, "Shortest duration."}, [](const AsyncSummaryRow& r) { return r.min_ns; }},
    {{"max_ns", "Max", kTime, "Longest duration."}, [](const AsyncSummaryRow& r) { return r.max_ns; }},
};

std::vector<SummaryLine> LinesOf(const OpSummary& summary, double peak_flops) {
  std::vector<SummaryLine> lines;
  lines.reserve(summary.rows.size());
  for (const OpSummaryRow& row : summary.rows)
    lines.push_back({&summary, &row, peak_flops});
  return lines;
}

void AddGroupKeys(const OpSummary& summary, ResultTable* table) {
  for (size_t key = 0; key < summary.key_names.size(); ++key) {
    const auto* column = std::find_if(std::begin(kGroupColumns), std::end(kGroupColumns),
                                      [&](const ResultColumn& known) { return known.key == summary.key_names[key]; });
    if (column != std::end(kGroupColumns))
      table->Add(*column, summary.rows, [&](const OpSummaryRow& row) { return row.keys[key]; });
  }
}

// A row never has spans of both sides, so the side is worth a column only where rows differ in it.
bool HasBothSides(const OpSummary& summary) {
  const auto is_on_device = [](const OpSummaryRow& row) { return row.on_device; };
  return std::any_of(summary.rows.begin(), summary.rows.end(), is_on_device) &&
         !std::all_of(summary.rows.begin(), summary.rows.end(), is_on_device);
}

// Columns of corrected times: what was taken off.
std::string CorrectionJson(const Trace& trace, const Correction& correction) {
  return "\"corrected\":true,\"spans_below_zero\":" + std::to_string(correction.below_zero) +
         ",\"own_cost\":" + OverheadJson(trace, correction);
}

}  // namespace

const ResultDescription& SummaryResult() {
  static const ResultDescription description = [] {
    ResultDescription made{"summary", "rows", "Spans that have the same name and the same keys of `--group-by`.", {}};
    made.columns.push_back(kName);
    made.columns.insert(made.columns.end(), std::begin(kGroupColumns), std::end(kGroupColumns));
    made.columns.insert(made.columns.end(), std::begin(kSummaryFields), std::end(kSummaryFields));
    return made;
  }();
  return description;
}

const ResultDescription& AsyncSummaryResult() {
  static const ResultDescription description = DescribeResult<AsyncSummaryRow>(
      "summary", "async_rows", "Asynchronous spans (`b` and `e` of Chrome traces) that have the same name.",
      kAsyncFields);
  return description;
}

ResultTable SummaryTable(const Trace& trace, const OpSummary& summary, const SummaryTableOptions& options) {
  const std::vector<SummaryLine> lines = LinesOf(summary, options.peak_flops);
  ResultTable table(SummaryResult());
  const auto add = [&](const ResultField<Line>& field, const ResultColumn& column) {
    table.Add(column, lines, [&](const Line& line) { return field.value(trace, line); });
  };
  if (summary.has_name) add(kName, kName);
  AddGroupKeys(summary, &table);
  const bool shows_rate = options.flop_rate || options.peak_flops > 0;
  for (const ResultField<Line>& field : kSummaryFields) {
    if (field.title == kSideTitle && !HasBothSides(summary)) continue;
    ResultColumn column = field;
    if (field.key == kRateKey && !shows_rate) column.title = {};
    add(field, column);
  }
  table.Keep(kRateKey);
  table.Keep(kPeakTitle);
  return table;
}

ResultTable AsyncSummaryTable(const Trace& trace, const std::vector<AsyncSummaryRow>& rows) {
  return MakeResultTable<AsyncSummaryRow>(AsyncSummaryResult(), kAsyncFields, trace, rows);
}

VerbResult SummaryVerbResult(const Trace& trace, const OpSummary& summary,
                             const std::vector<AsyncSummaryRow>& async_rows, const SummaryTableOptions& options) {
  VerbResult result;
  result.tables.push_back(SummaryTable(trace, summary, options));
  if (!async_rows.empty()) {
    result.tables.push_back(AsyncSummaryTable(trace, async_rows));
    result.shown.push_back(1);
  }
  if (summary.correction) {
    result.note = FormatCorrection(*summary.correction) + "\n";
    result.facts_json = CorrectionJson(trace, *summary.correction);
  }
  if (const OpSummary::LeftOut& left = summary.left_out; left.rows > 0) {
    result.note += std::to_string(left.rows) + " groups of least self time, with " + std::to_string(left.count) +
                   " calls, are left out: the texts of their keys are too long together\n";
    if (!result.facts_json.empty()) result.facts_json += ',';
    result.facts_json += "\"left_out\":{";
    JsonMemberWriter(&result.facts_json)
        .Uint("rows", left.rows)
        .Int("count", left.count)
        .Int("self_ns", left.self_ns)
        .Int("total_with_recursion_ns", left.total_with_recursion_ns);
    result.facts_json += '}';
  }
  return result;
}

Status SortOpSummary(const Trace& trace, OpSummary* summary, std::string_view key) {
  const ResultTable table = SummaryTable(trace, *summary);
  Result<std::vector<uint32_t>> order = table.OrderBy(key);
  if (!order.ok()) return order.error();
  std::vector<OpSummaryRow> sorted;
  sorted.reserve(summary->rows.size());
  for (const uint32_t row : order.value())
    sorted.push_back(std::move(summary->rows[row]));
  summary->rows = std::move(sorted);
  return {};
}

}  // namespace opscope

// The operator summary as a table for people, as CSV, and as "opscope.summary/1".
// SPDX-License-Identifier: Apache-2.0
#include "opscope/report/summary.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/json_object.h"
#include "opscope/report/info.h"
#include "opscope/report/quality.h"
#include "report/own_cost.h"
#include "report/row_table.h"

namespace opscope {
namespace {

struct SummaryField {
  std::string_view key;
  std::string_view title;
  RowUnit unit;
  int64_t (*value)(const OpSummaryRow& row);
};

constexpr SummaryField kTimes[] = {
    {"mean_ns", "Mean", RowUnit::kTime, [](const OpSummaryRow& r) { return r.mean_ns(); }},
    {"min_ns", "Min", RowUnit::kTime, [](const OpSummaryRow& r) { return r.min_ns; }},
    {"p50_ns", "P50", RowUnit::kTime, [](const OpSummaryRow& r) { return r.p50_ns; }},
    {"p99_ns", "P99", RowUnit::kTime, [](const OpSummaryRow& r) { return r.p99_ns; }},
    {"max_ns", "Max", RowUnit::kTime, [](const OpSummaryRow& r) { return r.max_ns; }},
    {"stddev_ns", "Std dev", RowUnit::kTime, [](const OpSummaryRow& r) { return r.stddev_ns; }},
    {"total_with_recursion_ns", "", RowUnit::kTime, [](const OpSummaryRow& r) { return r.total_with_recursion_ns; }},
    {"device_total_ns", "", RowUnit::kTime, [](const OpSummaryRow& r) { return r.device_total_ns; }},
    {"device_self_ns", "", RowUnit::kTime, [](const OpSummaryRow& r) { return r.device_self_ns; }},
    {"self_memory_bytes", "Self memory", RowUnit::kBytes, [](const OpSummaryRow& r) { return r.self_memory_bytes; }},
    {"flops", "FLOPs", RowUnit::kAmount, [](const OpSummaryRow& r) { return r.flops; }},
};

template <typename Value>
std::vector<int64_t> Numbers(const OpSummary& summary, Value value) {
  std::vector<int64_t> numbers;
  numbers.reserve(summary.rows.size());
  for (const OpSummaryRow& row : summary.rows)
    numbers.push_back(static_cast<int64_t>(value(row)));
  return numbers;
}

void AddNames(const Trace& trace, const OpSummary& summary, RowTable* rows) {
  if (summary.has_name) {
    std::vector<std::string>& names = rows->Add("name", "Name", RowUnit::kText).texts;
    for (const OpSummaryRow& row : summary.rows)
      names.emplace_back(summary.NameOf(trace, row));
  }
  for (size_t key = 0; key < summary.key_names.size(); ++key) {
    std::vector<std::string>& texts = rows->Add(summary.key_names[key], summary.key_names[key], RowUnit::kText).texts;
    for (const OpSummaryRow& row : summary.rows)
      texts.push_back(row.keys[key]);
  }
}

std::vector<std::string> Sides(const OpSummary& summary) {
  std::vector<std::string> sides;
  for (const OpSummaryRow& row : summary.rows)
    sides.emplace_back(row.on_device ? "device" : "host");
  return sides;
}

// For people, who look for it beside the names; only where there are rows of both.
void AddSidesForPeople(const OpSummary& summary, RowTable* rows) {
  const auto is_on_device = [](const OpSummaryRow& row) { return row.on_device; };
  const bool has_device = std::any_of(summary.rows.begin(), summary.rows.end(), is_on_device);
  const bool has_host = !std::all_of(summary.rows.begin(), summary.rows.end(), is_on_device);
  if (has_device && has_host) rows->AddTexts("", "On", Sides(summary));
}

// For people, who look for them beside the times of the host.
void AddDeviceTimes(const OpSummary& summary, RowTable* rows) {
  if (summary.device_self_ns <= 0) return;
  rows->AddNumbers("", "Device total", RowUnit::kTime,
                   Numbers(summary, [](const OpSummaryRow& row) { return row.device_total_ns; }));
  std::vector<int64_t> self = Numbers(summary, [](const OpSummaryRow& row) { return row.device_self_ns; });
  rows->AddNumbers("", "Device self", RowUnit::kTime, self);
  rows->AddShares("", "Device %", self, summary.device_self_ns);
}

// FLOP/s, and the share of the machine's peak, where asked for and known.
void AddFlopRates(const OpSummary& summary, const SummaryTableOptions& options, RowTable* rows) {
  bool has_flops = false;
  std::vector<double> share;
  for (const OpSummaryRow& row : summary.rows) {
    has_flops |= row.flops != 0;
    const double rate = row.flops_per_s();
    share.push_back(rate == 0 ? std::numeric_limits<double>::quiet_NaN() : rate / options.peak_flops);
  }
  const bool shows_rate = has_flops && (options.flop_rate || options.peak_flops > 0);
  rows->AddNumbers("flops_per_s", shows_rate ? "FLOP/s" : "", RowUnit::kAmount,
                   Numbers(summary, [](const OpSummaryRow& row) { return row.flops_per_s(); }));
  if (has_flops && options.peak_flops > 0) rows->Add("", "% of peak", RowUnit::kShare).shares = std::move(share);
  for (const char* key : {"flops_per_s", "% of peak"})
    rows->Keep(key);
}

RowTable RowsOf(const Trace& trace, const OpSummary& summary, const SummaryTableOptions& options = {}) {
  RowTable rows;
  AddNames(trace, summary, &rows);
  AddSidesForPeople(summary, &rows);
  rows.AddNumbers("count", "Count", RowUnit::kNumber,
                  Numbers(summary, [](const OpSummaryRow& row) { return row.count; }));
  rows.AddNumbers("total_ns", "Total", RowUnit::kTime,
                  Numbers(summary, [](const OpSummaryRow& row) { return row.total_ns; }));
  rows.AddNumbers("self_ns", "Self", RowUnit::kTime,
                  Numbers(summary, [](const OpSummaryRow& row) { return row.self_ns; }));
  std::vector<double>& shares = rows.Add("self_share", "Self %", RowUnit::kShare).shares;
  for (const OpSummaryRow& row : summary.rows)
    shares.push_back(summary.ShareOf(row).value_or(std::numeric_limits<double>::quiet_NaN()));
  AddDeviceTimes(summary, &rows);
  for (const SummaryField& field : kTimes)
    rows.AddNumbers(field.key, field.title, field.unit, Numbers(summary, field.value));
  for (const char* key : {"self_memory_bytes", "flops"})
    rows.HideIfZero(key);
  AddFlopRates(summary, options, &rows);
  rows.AddTexts("on", "", Sides(summary));
  rows.Keep(options.sort);
  return rows;
}

RowTable AsyncRowsOf(const Trace& trace, const std::vector<AsyncSummaryRow>& rows) {
  std::vector<std::string> names;
  std::vector<int64_t> counts, totals, means, least, most;
  for (const AsyncSummaryRow& row : rows) {
    names.emplace_back(trace.text(row.name));
    counts.push_back(static_cast<int64_t>(row.count));
    totals.push_back(row.total_ns), means.push_back(row.mean_ns());
    least.push_back(row.min_ns), most.push_back(row.max_ns);
  }
  RowTable table;
  table.AddTexts("name", "Asynchronous", std::move(names));
  table.AddNumbers("count", "Count", RowUnit::kNumber, std::move(counts));
  table.AddNumbers("total_ns", "Total", RowUnit::kTime, std::move(totals));
  table.AddNumbers("mean_ns", "Mean", RowUnit::kTime, std::move(means));
  table.AddNumbers("min_ns", "Min", RowUnit::kTime, std::move(least));
  table.AddNumbers("max_ns", "Max", RowUnit::kTime, std::move(most));
  return table;
}

}  // namespace

std::string FormatSummaryTable(const Trace& trace, const OpSummary& summary, const SummaryTableOptions& options) {
  std::string table;
  if (!summary.rows.empty()) table = RowsOf(trace, summary, options).ForPeople(options.limit, options.width);
  if (summary.correction) table += FormatCorrection(*summary.correction) + "\n";
  return table;
}

std::string SummaryCsv(const Trace& trace, const OpSummary& summary, size_t limit) {
  return RowsOf(trace, summary).Csv(limit);
}

std::string FormatAsyncSummaryTable(const Trace& trace, const std::vector<AsyncSummaryRow>& rows, size_t limit,
                                    size_t width) {
  return rows.empty() ? "" : AsyncRowsOf(trace, rows).ForPeople(limit, width);
}

std::string SummaryJson(const Trace& trace, const OpSummary& summary, const Quality& quality, size_t limit,
                        const std::vector<AsyncSummaryRow>& async_rows) {
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
  RowsOf(trace, summary).AppendJson(limit, &out);
  if (!async_rows.empty()) {
    document.Key("async_rows");
    AsyncRowsOf(trace, async_rows).AppendJson(limit, &out);
  }
  document.Key("problems");
  out += ProblemsJson(trace);
  document.Key("quality");
  out += QualityJson(quality);
  document.Close();
  return out + "\n";
}

}  // namespace opscope

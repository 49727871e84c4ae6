// The operator summary as a table for people, and as CSV.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "opscope/report.h"
#include "report/code_points.h"
#include "report/human_units.h"

namespace opscope {
namespace {

constexpr size_t kGap = 2;
constexpr size_t kShortestName = 16;

struct ColumnText {
  std::string title;
  bool is_left = false;
  std::vector<std::string> cells;
};

size_t RowCount(const OpSummary& summary, size_t limit) {
  return limit == 0 ? summary.rows.size() : std::min(limit, summary.rows.size());
}

std::string OneLine(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return line;
}

std::string Share(int64_t part, int64_t whole) {
  return whole == 0 ? "-" : FixedText(100.0 * static_cast<double>(part) / static_cast<double>(whole), 1) + "%";
}

// FLOP/s and the share of the machine's peak, as asked for.
void AddFlopRates(const OpSummary& summary, size_t count, const SummaryTableOptions& options,
                  std::vector<ColumnText>* columns) {
  ColumnText rate{"FLOP/s", false, {}};
  ColumnText share{"% of peak", false, {}};
  for (size_t i = 0; i < count; ++i) {
    const double per_second = summary.rows[i].flops_per_s();
    rate.cells.push_back(per_second == 0 ? "-" : HumanCount(static_cast<int64_t>(per_second)));
    share.cells.push_back(per_second == 0 ? "-" : FixedText(100.0 * per_second / options.peak_flops, 1) + "%");
  }
  if (options.flop_rate || options.peak_flops > 0) columns->push_back(std::move(rate));
  if (options.peak_flops > 0) columns->push_back(std::move(share));
}

std::vector<ColumnText> NumberColumns(const OpSummary& summary, size_t count, const SummaryTableOptions& options) {
  std::vector<ColumnText> columns(10);
  const char* titles[] = {"Count", "Total", "Self", "Self %", "Mean", "Min", "P50", "P99", "Max", "Std dev"};
  for (size_t i = 0; i < columns.size(); ++i)
    columns[i].title = titles[i];
  const int64_t self_sum = summary.thread_self_ns;
  bool has_device = false;
  bool has_memory = false;
  bool has_flops = false;
  for (const OpSummaryRow& row : summary.rows) {
    has_device |= row.device_total_ns != 0;
    has_memory |= row.self_memory_bytes != 0;
    has_flops |= row.flops != 0;
  }
  ColumnText device_total{"Device total", false, {}};
  ColumnText device_self{"Device self", false, {}};
  ColumnText memory{"Self memory", false, {}};
  ColumnText flops{"FLOPs", false, {}};
  for (size_t i = 0; i < count; ++i) {
    const OpSummaryRow& row = summary.rows[i];
    columns[0].cells.push_back(std::to_string(row.count));
    columns[1].cells.push_back(HumanTime(row.total_ns));
    columns[2].cells.push_back(HumanTime(row.self_ns));
    columns[3].cells.push_back(Share(row.self_ns, self_sum));
    columns[4].cells.push_back(HumanTime(row.mean_ns()));
    columns[5].cells.push_back(HumanTime(row.min_ns));
    columns[6].cells.push_back(HumanTime(row.p50_ns));
    columns[7].cells.push_back(HumanTime(row.p99_ns));
    columns[8].cells.push_back(HumanTime(row.max_ns));
    columns[9].cells.push_back(HumanTime(row.stddev_ns));
    device_total.cells.push_back(HumanTime(row.device_total_ns));
    device_self.cells.push_back(HumanTime(row.device_self_ns));
    memory.cells.push_back(HumanBytes(row.self_memory_bytes));
    flops.cells.push_back(HumanCount(row.flops));
  }
  if (has_device) columns.push_back(std::move(device_total));
  if (has_device) columns.push_back(std::move(device_self));
  if (has_memory) columns.push_back(std::move(memory));
  if (has_flops) columns.push_back(std::move(flops));
  if (has_flops) AddFlopRates(summary, count, options, &columns);
  return columns;
}

size_t WidthOf(const ColumnText& column) {
  size_t width = CountCodePoints(column.title);
  for (const std::string& cell : column.cells)
    width = std::max(width, CountCodePoints(cell));
  return width;
}

std::string CutMiddle(const std::string& text, size_t width) {
  const size_t length = CountCodePoints(text);
  if (length <= width) return text;
  const size_t head = (width - 3) / 2;
  const size_t tail = width - 3 - head;
  return std::string(FirstCodePoints(text, static_cast<int64_t>(head))) + "..." +
         text.substr(FirstCodePoints(text, static_cast<int64_t>(length - tail)).size());
}

void AppendCsvField(std::string_view text, std::string* out) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    *out += text;
    return;
  }
  *out += '"';
  for (char c : text) {
    if (c == '"') *out += '"';
    *out += c;
  }
  *out += '"';
}

}  // namespace

std::string FormatSummaryTable(const Trace& trace, const OpSummary& summary, const SummaryTableOptions& options) {
  const size_t count = RowCount(summary, options.limit);
  std::vector<ColumnText> columns;
  if (summary.has_name) {
    ColumnText& names = columns.emplace_back(ColumnText{"Name", true, {}});
    for (size_t i = 0; i < count; ++i)
      names.cells.push_back(OneLine(trace.text(summary.rows[i].name)));
  }
  for (size_t key = 0; key < summary.key_names.size(); ++key) {
    ColumnText& texts = columns.emplace_back(ColumnText{summary.key_names[key], true, {}});
    for (size_t i = 0; i < count; ++i)
      texts.cells.push_back(OneLine(summary.rows[i].keys[key]));
  }
  const size_t texts = columns.size();
  for (ColumnText& column : NumberColumns(summary, count, options))
    columns.push_back(std::move(column));
  std::vector<size_t> widths;
  size_t total = 0;
  for (const ColumnText& column : columns) {
    widths.push_back(WidthOf(column));
    total += widths.back() + kGap;
  }
  // Long texts give way, the widest first, so that a line fits the terminal; numbers never do.
  while (options.width > 0 && total > options.width + kGap && texts > 0) {
    auto widest = std::max_element(widths.begin(), widths.begin() + static_cast<ptrdiff_t>(texts));
    if (*widest <= kShortestName) break;
    --*widest;
    --total;
  }
  std::string out;
  for (size_t line = 0; line <= count; ++line) {
    for (size_t i = 0; i < columns.size(); ++i) {
      const std::string& cell = line == 0 ? columns[i].title : columns[i].cells[line - 1];
      if (i > 0) out.append(kGap, ' ');
      AppendPadded(columns[i].is_left ? CutMiddle(cell, widths[i]) : cell, widths[i], columns[i].is_left, &out);
    }
    out += '\n';
  }
  if (summary.correction) out += FormatCorrection(*summary.correction) + "\n";
  return out;
}

std::string SummaryCsv(const Trace& trace, const OpSummary& summary, size_t limit) {
  std::string out = summary.has_name ? "name" : "";
  for (const std::string& key : summary.key_names)
    out += (out.empty() ? "" : ",") + key;
  out += (out.empty() ? "" : ",");
  out +=
      "count,total_ns,self_ns,min_ns,max_ns,mean_ns,total_with_recursion_ns,device_total_ns,device_self_ns,"
      "self_memory_bytes,flops,flops_per_s,p50_ns,p99_ns,stddev_ns\r\n";
  for (size_t i = 0; i < RowCount(summary, limit); ++i) {
    const OpSummaryRow& row = summary.rows[i];
    if (summary.has_name) {
      AppendCsvField(trace.text(row.name), &out);
      out += ',';
    }
    for (const std::string& key : row.keys) {
      AppendCsvField(key, &out);
      out += ',';
    }
    AppendUint(&out, row.count);
    for (int64_t value : {row.total_ns, row.self_ns, row.min_ns, row.max_ns, row.mean_ns(), row.total_with_recursion_ns,
                          row.device_total_ns, row.device_self_ns, row.self_memory_bytes, row.flops,
                          static_cast<int64_t>(row.flops_per_s()), row.p50_ns, row.p99_ns, row.stddev_ns}) {
      out += ',';
      AppendInt(&out, value);
    }
    out += "\r\n";
  }
  return out;
}

}  // namespace opscope

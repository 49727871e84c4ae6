// The text of MegEngine's profile_analyze, character by character as the original prints it: a summary table, then a
// grid, a Confluence table or a list for devices and hosts. Number formats are Python's (report/python_float.h), tables
// are those of the tabulate package (tabulate.h), long names wrap like textwrap (text_wrap.h).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/megengine/analysis_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/escaped_text.h"
#include "report/megengine/tabulate.h"
#include "report/megengine/text_wrap.h"
#include "report/python_float.h"

namespace opscope {
namespace {

using Records = std::vector<MegEngineRecord>;

constexpr const char* kUnknown = "N/A";

// The three texts that identify a record: name, type and id; of a group: type, count and "N/A".
std::vector<std::string> InfoOf(const MegEngineRecord& record) {
  if (record.opr == nullptr) return {std::string(record.group), std::to_string(record.count), kUnknown};
  return {record.opr->name, record.opr->type, record.opr->id};
}

std::string List(std::span<const int64_t> numbers, char open, char close) {
  std::string text(1, open);
  for (size_t i = 0; i < numbers.size(); ++i)
    text.append(i == 0 ? "" : ",").append(std::to_string(numbers[i]));
  return text + close;
}

std::string ShapesText(const std::optional<IntegerLists>& shapes, const std::optional<IntegerLists>& layouts,
                       std::string_view separator) {
  if (!shapes) return kUnknown;
  std::string text;
  const size_t size = layouts ? std::min(shapes->size(), layouts->size()) : shapes->size();
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) text += separator;
    text += List((*shapes)[i], '{', '}');
    if (layouts && !(*layouts)[i].empty()) text += "\n -" + List((*layouts)[i], '[', ']');
  }
  return text;
}

std::string InShapes(const MegEngineRecord& record, std::string_view separator) {
  return record.opr == nullptr ? "None" : ShapesText(record.opr->in_shapes, record.opr->in_layouts, separator);
}
std::string OutShapes(const MegEngineRecord& record, std::string_view separator) {
  return record.opr == nullptr ? "None" : ShapesText(record.opr->out_shapes, std::nullopt, separator);
}

struct Unit {
  double base;
  std::string_view plain;     // unit of a number below the base
  std::string_view prefixed;  // unit after a prefix K, M, ...
};

std::string WithUnit(std::optional<double> amount, const Unit& unit) {
  static constexpr std::string_view kPrefixes[] = {"", "K", "M", "G", "T", "P", "E", "Z", "Y"};
  if (!amount) return std::string(kUnknown).append("\n").append(unit.plain);
  size_t prefix = 0;
  while (std::isfinite(*amount) && *amount >= unit.base && prefix + 1 < std::size(kPrefixes))
    *amount /= unit.base, ++prefix;
  return PythonFixed(*amount, 2)
      .append("\n")
      .append(kPrefixes[prefix])
      .append(prefix == 0 ? unit.plain : unit.prefixed);
}

std::string Percent(double part, double whole) {
  return PythonFixed(part / whole * 100, 1) + "%";
}

std::string WrappedInfo(const MegEngineRecord& record) {
  constexpr size_t kWidth = 30;
  std::string text;
  for (const std::string& info : InfoOf(record)) {
    if (!text.empty()) text += '\n';
    const std::vector<std::string> lines = WrapText(info, kWidth);
    for (size_t i = 0; i < lines.size(); ++i)
      text.append(i == 0 ? "" : "\n-  ").append(EscapedText(lines[i]));
  }
  return text;
}

// Adds a record as one table row per line of its highest cell.
void AddLines(const std::vector<std::string>& cells, Tabulated* table) {
  size_t height = 0;
  for (const std::string& cell : cells)
    height = std::max(height, static_cast<size_t>(std::count(cell.begin(), cell.end(), '\n')) + 1);
  for (size_t i = 0; i < cells.size(); ++i) {
    TabulatedColumn& column = table->columns[i];
    std::string_view rest = cells[i];
    for (size_t line = 0; line < height; ++line) {
      const size_t end = rest.find('\n');
      column.emplace_back(std::string(rest.substr(0, end)));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  for (size_t line = 0; line < height; ++line)
    table->continues.push_back(line > 0);
}

std::string GridOf(const Records& records, const char* of, double total) {
  constexpr Unit kOperations = {1000, "FLO", "FLO"}, kSpeed = {1000, "FLOPS", "FLOPS"};
  constexpr Unit kBytes = {1024, "byte", "iB"}, kBandwidth = {1024, "byte/s", "iB/s"};
  Tabulated table{.titles = {std::string(of) + " self time", "cumulative", "operator info", "computation", "FLOPS",
                             "memory", "bandwidth", "in_shapes", "out_shapes"},
                  .columns = {}};
  table.columns.resize(table.titles.size());
  double cumulated = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const MegEngineRecord& record = records[i];
    cumulated += record.time;
    AddLines(
        {"#" + std::to_string(i) + "\n" + PythonSignificant(record.time, 3) + "\n" + Percent(record.time, total),
         PythonSignificant(cumulated, 3) + "\n" + Percent(cumulated, total), WrappedInfo(record),
         WithUnit(record.computation, kOperations), WithUnit(record.flops(), kSpeed), WithUnit(record.memory, kBytes),
         WithUnit(record.bandwidth(), kBandwidth), InShapes(record, "\n"), OutShapes(record, "\n")},
        &table);
  }
  return Tabulate(std::move(table), TableStyle::kFancyGrid);
}

// Python's max(): the first value, replaced only by greater ones. So a NaN in first place stays.
class Longest {
 public:
  void Add(std::optional<double> value) {
    if (value && (!longest_ || *value > *longest_)) longest_ = value;
  }

  // A bar of up to 15 '#' in proportion to the longest value; empty if the share is NaN or not positive.
  std::string BarOf(std::optional<double> value) const {
    constexpr double kLength = 15;
    if (!value || !longest_) return "";
    const double share = *value / *longest_ * kLength;
    if (!(share > 0)) return "";
    return std::string(static_cast<size_t>(std::min(share, kLength)), '#');
  }

 private:
  std::optional<double> longest_;
};

std::string Scaled(std::optional<double> amount, double unit) {
  return amount ? PythonFixed(*amount / (unit * unit), 1) : kUnknown;
}

std::string ConfluenceOf(const Records& records, double total, bool is_aggregated) {
  Tabulated table{.titles = {"#", "time", "ratio", "time bar", "cum-time", "cum-time ratio"}, .columns = {}};
  for (const char* title : {is_aggregated ? "opr type" : "opr name", is_aggregated ? "opr count" : "opr type", "opr id",
                            "computation (MFLO)", "MFLOPS", "MFLOPS-bar", "memory (MB)", "bandwidth (MiB/s)",
                            "bandwidth bar", "in_shapes", "out_shapes"})
    table.titles.emplace_back(title);
  table.columns.resize(table.titles.size());
  Longest time, flops, bandwidth;
  for (const MegEngineRecord& record : records)
    time.Add(record.time), flops.Add(record.flops()), bandwidth.Add(record.bandwidth());
  double cumulated = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    const MegEngineRecord& record = records[i];
    cumulated += record.time;
    std::vector<TabulatedCell> row = {std::to_string(i),
                                      PythonSignificant(record.time, 3),
                                      Percent(record.time, total),
                                      time.BarOf(record.time),
                                      cumulated,
                                      cumulated / total};
    for (const std::string& info : InfoOf(record))
      row.emplace_back(EscapedText(info));
    for (std::string text : {Scaled(record.computation, 1000), Scaled(record.flops(), 1000),
                             flops.BarOf(record.flops()), Scaled(record.memory, 1024), Scaled(record.bandwidth(), 1024),
                             bandwidth.BarOf(record.bandwidth()), InShapes(record, ", "), OutShapes(record, ", ")})
      row.emplace_back(std::move(text));
    for (size_t column = 0; column < row.size(); ++column)
      table.columns[column].push_back(std::move(row[column]));
  }
  return Tabulate(std::move(table), TableStyle::kConfluence);
}

std::string ListOf(const Records& records) {
  std::string text;
  for (const MegEngineRecord& record : records) {
    if (!text.empty()) text += '\n';
    const std::vector<std::string> info = InfoOf(record);
    text += EscapedText(info[0] + " " + info[1] + " " + info[2]);
  }
  return text;
}

std::string SummaryOf(const MegEngineAnalysis& analysis, const MegEngineTextOptions& options) {
  const auto total = [](std::optional<double> time) {
    return time ? TabulatedCell(*time) : TabulatedCell(std::string(kUnknown));
  };
  const auto copies = [](const std::optional<MegEngineCopyTime>& time) {
    return time ? "tot=" + PythonFixed(time->total, 4) + " avg=" + PythonFixed(time->mean, 4) : std::string(kUnknown);
  };
  Tabulated table{
      .titles = {},
      .columns = {{"total device time", "total host time"}, {total(analysis.device_time), total(analysis.host_time)}}};
  if (options.with_copy_time) {
    table.columns[0].emplace_back("copy time"), table.columns[0].emplace_back("copy wait time");
    table.columns[1].emplace_back(copies(analysis.copy_time));
    table.columns[1].emplace_back(copies(analysis.copy_wait_time));
  }
  if (options.is_for_confluence) table.titles = {"name", "value"};
  return Tabulate(std::move(table), options.is_for_confluence ? TableStyle::kConfluence : TableStyle::kSimple);
}

}  // namespace

std::string FormatMegEngineAnalysis(const MegEngineAnalysis& analysis, const MegEngineTextOptions& options) {
  const auto table = [&](const Records& records, const char* of, std::optional<double> total) {
    if (options.is_list) return ListOf(records);
    if (options.is_for_confluence) return ConfluenceOf(records, total.value_or(0), analysis.is_aggregated);
    return GridOf(records, of, total.value_or(0));
  };
  const auto device = [&] { return table(analysis.device, "device", analysis.device_time); };
  const auto host = [&] { return table(analysis.host, "host", analysis.host_time); };
  switch (options.part) {
    case MegEnginePart::kSummary:
      return SummaryOf(analysis, options) + "\n";
    case MegEnginePart::kDevice:
      return device() + "\n";
    case MegEnginePart::kHost:
      return host() + "\n";
    case MegEnginePart::kAll:
      break;
  }
  std::string text = SummaryOf(analysis, options) + "\n\n" + device() + "\n";
  if (options.with_host) text += "\n" + host() + "\n";
  return text;
}

}  // namespace opscope

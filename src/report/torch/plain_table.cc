// torch's rows in a layout that is easier to read: whole names at the end of the line, shares that add up, and a row
// for everything that `row_limit` leaves out.
//
//   Self %    Self  Total   Mean  Calls  Name
//    61.54   8.0us  9.0us  9.0us      1  aten::conv2d
//    38.46   5.0us      -      -     14  (3 more)
//
// "Self %" is rounded by the largest remainder method: each share is rounded down to hundredths, and the missing
// hundredths go to the shares that lost most. So the column adds up to 100.00, and no share is off by 0.01.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/escaped_text.h"
#include "base/saturating.h"
#include "opscope/torch/table.h"
#include "report/human_units.h"
#include "report/text_table.h"
#include "report/torch/sort.h"
#include "report/torch/units.h"

namespace opscope {
namespace {

constexpr int64_t kWhole = 10000;  // hundredths of a percent

// A printed row; the last one may stand for all rows that are left out.
struct Line {
  TorchTableRow row;
  bool is_rest = false;
};

std::vector<int64_t> SharesOf(const std::vector<double>& parts, double whole) {
  std::vector<int64_t> shares(parts.size());
  if (whole <= 0) return shares;
  std::vector<double> lost(parts.size());
  int64_t missing = kWhole;
  for (size_t i = 0; i < parts.size(); ++i) {
    const double exact = parts[i] / whole * static_cast<double>(kWhole);
    shares[i] = ClampToInt64(std::floor(exact));
    lost[i] = exact - std::floor(exact);
    missing = SaturatingSubtract(missing, shares[i]);
  }
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return lost[a] > lost[b]; });
  for (size_t i = 0; i < order.size() && missing > 0; ++i, --missing)
    shares[order[i]] = SaturatingAdd(shares[order[i]], 1);
  return shares;
}

std::string ShareText(int64_t hundredths) {
  return FixedText(static_cast<double>(hundredths) / 100, 2);
}

void AddTo(const TorchTableRow& row, TorchTableRow* sum) {
  sum->self_cpu_time_total += row.self_cpu_time_total;
  sum->self_device_time_total += row.self_device_time_total;
  sum->self_cpu_memory_usage = SaturatingAdd(sum->self_cpu_memory_usage, row.self_cpu_memory_usage);
  sum->self_device_memory_usage = SaturatingAdd(sum->self_device_memory_usage, row.self_device_memory_usage);
  sum->count += row.count;
  sum->flops += row.flops;
}

std::vector<Line> LinesOf(const std::vector<const TorchTableRow*>& rows, const TorchTableOptions& options,
                          std::string* rest_name) {
  std::vector<Line> lines;
  Line rest;
  rest.is_rest = true;
  size_t left_out = 0;
  for (const TorchTableRow* row : rows) {
    const bool fits = options.row_limit < 0 || static_cast<int64_t>(lines.size()) < options.row_limit;
    if (fits && (!options.top_level_events_only || !row->has_cpu_parent)) {
      lines.push_back({*row, false});
    } else {
      AddTo(*row, &rest.row);
      ++left_out;
    }
  }
  if (left_out == 0) return lines;
  *rest_name = "(" + std::to_string(left_out) + " more)";
  rest.row.key = *rest_name;
  lines.push_back(rest);
  return lines;
}

class PlainTable {
 public:
  PlainTable(const std::vector<Line>& lines, const TorchTableOptions& options) : lines_(lines), options_(options) {}

  std::string Write() {
    AddNumbers();
    AddTexts();
    std::string text;
    if (options_.header) text += EscapedText(*options_.header) + "\n";
    text += LayOutTable(std::move(columns_), 0);
    double self = 0;
    for (const Line& line : lines_)
      self += line.row.self_cpu_time_total;
    text += "Self CPU time total: " + Time(self) + "\n";
    if (!options_.note.empty()) text += options_.note + "\n";
    return text;
  }

 private:
  std::string Time(double us) const { return FormatTorchTime(us, options_.time_unit); }

  template <typename Read>
  void Add(std::string title, bool is_left, Read read) {
    TextColumn& column = columns_.emplace_back();
    column.title = std::move(title);
    column.is_text = is_left;
    for (const Line& line : lines_)
      column.cells.push_back(read(line));
  }
  template <typename Has>
  bool Any(Has has) const {
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return has(line.row); });
  }
  // Adds a column of each row's share in the sum over all rows.
  template <typename Read>
  void AddShares(std::string title, Read read) {
    std::vector<double> parts;
    parts.reserve(lines_.size());
    for (const Line& line : lines_)
      parts.push_back(read(line.row));
    const std::vector<int64_t> shares = SharesOf(parts, std::accumulate(parts.begin(), parts.end(), 0.0));
    size_t next = 0;
    Add(std::move(title), false, [&](const Line&) { return ShareText(shares[next++]); });
  }

  void AddNumbers() {
    const auto unless_rest = [](const Line& line, std::string text) { return line.is_rest ? "-" : std::move(text); };
    AddShares("Self %", [](const TorchTableRow& row) { return row.self_cpu_time_total; });
    Add("Self", false, [&](const Line& line) { return Time(line.row.self_cpu_time_total); });
    Add("Total", false, [&](const Line& line) { return unless_rest(line, Time(line.row.cpu_time_total)); });
    Add("Mean", false, [&](const Line& line) { return unless_rest(line, Time(line.row.cpu_time)); });
    if (Any([](const TorchTableRow& row) { return row.self_device_time_total > 0; })) {
      AddShares("Device %", [](const TorchTableRow& row) { return row.self_device_time_total; });
      Add("Device self", false, [&](const Line& line) { return Time(line.row.self_device_time_total); });
    }
    if (options_.profile_memory) {
      Add("Self memory", false, [](const Line& line) { return HumanBytes(line.row.self_cpu_memory_usage); });
      Add("Memory", false, [&](const Line& line) { return unless_rest(line, HumanBytes(line.row.cpu_memory_usage)); });
    }
    if (Any([](const TorchTableRow& row) { return row.flops > 0; })) {
      Add("FLOPs", false,
          [](const Line& line) { return line.row.flops > 0 ? HumanCount(ClampToInt64(line.row.flops)) : "-"; });
    }
    Add("Calls", false, [](const Line& line) { return std::to_string(line.row.count); });
  }

  void AddTexts() {
    Add("Name", true, [](const Line& line) { return std::string(line.row.key); });
    if (Any([](const TorchTableRow& row) { return !row.overload_name.empty(); })) {
      Add("Overload", true, [](const Line& line) { return std::string(line.row.overload_name); });
    }
    if (Any([](const TorchTableRow& row) { return row.has_input_shapes; })) {
      Add("Input shapes", true, [](const Line& line) { return std::string(line.row.input_shapes); });
    }
    if (Any([](const TorchTableRow& row) { return !row.stack.empty(); })) {
      Add("Called from", true, [](const Line& line) {
        std::string stack;
        for (const std::string_view frame : line.row.stack)
          stack.append(stack.empty() ? "" : " < ").append(frame);
        return stack;
      });
    }
  }

  const std::vector<Line>& lines_;
  const TorchTableOptions& options_;
  std::vector<TextColumn> columns_;
};

}  // namespace

Result<std::string> FormatPlainTable(std::span<const TorchTableRow> rows, const TorchTableOptions& options) {
  if (rows.empty()) return std::string();
  std::vector<const TorchTableRow*> ordered;
  for (const TorchTableRow& row : rows)
    ordered.push_back(&row);
  OPSCOPE_TRY(SortAsTorch(options.sort_by, &ordered));
  std::string rest_name;
  const std::vector<Line> lines = LinesOf(ordered, options, &rest_name);
  return PlainTable(lines, options).Write();
}

}  // namespace opscope

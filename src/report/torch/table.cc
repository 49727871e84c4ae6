// torch's table: its columns, cells and order, with all its quirks, which docs/reference/function_events.md defines.
// Rows are measured first (TableShape), because columns appear only if some row has a value for them, and widths depend
// on the longest text of all rows, printed or not.
//
// Widths count Unicode code points, as Python's len() does; with a terminal width, display columns.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/escaped_text.h"
#include "report/code_points.h"
#include "report/python_float.h"
#include "report/text_table.h"
#include "report/torch/sort.h"
#include "report/torch/table_text.h"
#include "report/torch/units.h"

namespace opscope {
namespace {

constexpr int64_t kNumberWidth = 12;
constexpr std::string_view kGap = "  ";

struct TableColumn {
  std::string title;
  int64_t width = kNumberWidth;
  bool is_left = false;
};

// Properties of all rows together, which decide the columns.
struct TableShape {
  bool has_device_time = false;
  bool has_device_memory = false;
  bool has_overloads = false;
  bool has_nodes = false;
  bool has_shapes = false;
  bool has_stacks = false;
  double smallest_flops = 0;  // 0: no FLOPs column
  size_t name_length = 0;
  size_t shapes_length = 0;
  size_t frame_length = 0;
  double self_cpu_sum = 0;
  double self_device_sum = 0;
};

using Rows = std::vector<const TorchTableRow*>;

TableShape Measure(const Rows& rows, const TorchTableOptions& options) {
  TableShape shape;
  const TextRuler& ruler = RulerOf(options);
  for (const TorchTableRow* row : rows) {
    shape.has_device_time |= row->self_device_time_total > 0;
    shape.has_device_memory |= row->self_device_memory_usage > 0;
    shape.has_overloads |= !row->overload_name.empty();
    shape.has_nodes |= row->node_id != -1;
    shape.has_shapes |= row->has_input_shapes;
    shape.has_stacks |= !row->stack.empty();
    shape.name_length = std::max(shape.name_length, ruler.length(row->key));
    shape.shapes_length = std::max(shape.shapes_length, ruler.length(row->input_shapes));
    for (std::string_view frame : row->stack) {
      shape.frame_length = std::max(shape.frame_length, ruler.length(frame));
    }
    if (options.with_flops && row->flops > 0) {
      shape.smallest_flops = shape.smallest_flops == 0 ? row->flops : std::min(shape.smallest_flops, row->flops);
    }
    shape.self_cpu_sum += row->self_cpu_time_total;
    const bool is_device_time = row->is_cpu ? row->is_legacy : row->counts_as_device && !row->is_user_annotation;
    if (is_device_time) shape.self_device_sum += row->self_device_time_total;
  }
  return shape;
}

int64_t WidthFor(size_t length, std::optional<int64_t> limit) {
  const auto width = static_cast<int64_t>(length) + 4;
  return limit ? std::min(width, *limit) : width;
}

std::string DeviceTitle(const TorchTableOptions& options) {
  return options.use_device.empty() ? "None" : UpperCase(options.use_device);
}

std::vector<TableColumn> Columns(const TableShape& shape, const TorchTableOptions& options) {
  std::vector<TableColumn> columns;
  auto add = [&](std::string title) { columns.push_back({std::move(title)}); };
  const int64_t name_width = WidthFor(shape.name_length, options.max_name_column_width);
  const std::string device = DeviceTitle(options);
  columns.push_back({"Name", name_width});
  if (shape.has_overloads) columns.push_back({"Overload Name", name_width});
  for (const char* title : {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"})
    add(title);
  if (shape.has_device_time) {
    add("Self " + device);
    add("Self " + device + " %");
    add(device + " total");
    add(device + " time avg");
  }
  if (options.profile_memory) {
    add("CPU Mem");
    add("Self CPU Mem");
    if (!options.use_device.empty() && shape.has_device_memory) {
      add(device + " Mem");
      add("Self " + device + " Mem");
    }
  }
  add("# of Calls");
  if (shape.has_nodes) add("Node ID");
  if (shape.has_shapes) {
    columns.push_back({"Input Shapes", WidthFor(shape.shapes_length, options.max_shapes_column_width)});
  }
  if (shape.has_stacks) {
    columns.push_back({"Source Location", WidthFor(shape.frame_length, options.max_src_column_width), true});
  }
  if (shape.smallest_flops > 0) add("Total " + std::string(FlopsUnitFor(shape.smallest_flops).title));
  return columns;
}

// Number of columns that fit the terminal. Narrows the name column to its least width if necessary.
size_t FitIntoTerminal(const TableShape& shape, TorchTableOptions* options) {
  const std::vector<TableColumn> columns = Columns(shape, *options);
  if (options->width == 0) return columns.size();
  const auto room = static_cast<int64_t>(options->width) - static_cast<int64_t>(kGap.size());
  const int64_t least = std::min(columns[0].width, static_cast<int64_t>(MinNameWidth(options->width)));
  int64_t others = 0;
  size_t shown = 1;
  for (; shown < columns.size(); ++shown) {
    const int64_t taken = columns[shown].width + static_cast<int64_t>(kGap.size());
    if (least + others + taken > room) break;
    others += taken;
  }
  if (columns[0].width + others > room) options->max_name_column_width = std::max<int64_t>(1, room - others);
  return shown;
}

class TableWriter {
 public:
  TableWriter(const TableShape& shape, const TorchTableOptions& options, size_t shown)
      : shape_(shape), options_(options), ruler_(RulerOf(options)), columns_(Columns(shape, options)), shown_(shown) {
    for (size_t i = 0; i < shown_; ++i) {
      separator_.append(static_cast<size_t>(columns_[i].width), '-');
      separator_ += kGap;
    }
  }

  std::string Write(const Rows& rows) {
    WriteHead();
    for (const TorchTableRow* row : rows)
      WriteRow(*row);
    WriteLine(separator_);
    WriteText("Self CPU time total: " + Time(shape_.self_cpu_sum));
    if (shape_.has_device_time) {
      WriteText("Self " + DeviceTitle(options_) + " time total: " + Time(shape_.self_device_sum));
    }
    if (!options_.note.empty()) WriteText(options_.note);
    if (shown_ < columns_.size()) {
      std::vector<std::string> left_out;
      for (size_t i = shown_; i < columns_.size(); ++i)
        left_out.push_back(columns_[i].title);
      WriteLine(LeftOutLine(left_out, options_.width));
    }
    return std::move(text_);
  }

 private:
  std::string Time(double time_us) const { return FormatTorchTime(time_us, options_.time_unit); }

  void WriteLine(std::string_view line) { text_.append(line).append("\n"); }
  void WriteText(const std::string& text) { text_ += WrapLines(text + "\n", options_.width); }

  void WriteCells(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < shown_; ++i) {
      const auto width = static_cast<size_t>(columns_[i].width);
      AppendPadded(cells[i], ruler_.length(cells[i]), width, columns_[i].is_left, &line);
      line += kGap;
    }
    // A number may be wider than its column.
    WriteLine(options_.width == 0 ? line : PrefixOfWidth(line, options_.width));
  }

  void WriteHead() {
    const std::string rule(separator_.size() - kGap.size(), '=');
    if (options_.header) {
      WriteLine(rule);
      WriteText(*options_.header);
    }
    if (options_.top_level_events_only) {
      WriteLine(rule);
      WriteText("This report only display top-level ops statistics");
    }
    WriteLine(separator_);
    std::vector<std::string> titles;
    titles.reserve(columns_.size());
    for (const TableColumn& column : columns_)
      titles.push_back(column.title);
    WriteCells(titles);
    WriteLine(separator_);
  }

  // As in torch, a name within three characters of the limit is already cut.
  std::string CutName(std::string_view name) const {
    if (!options_.max_name_column_width) return std::string(name);
    const int64_t limit = *options_.max_name_column_width - 3;
    if (static_cast<int64_t>(ruler_.length(name)) < limit) return std::string(name);
    return std::string(ruler_.first(name, limit)) + "...";
  }

  void AppendTimes(const TorchTableRow& row, std::vector<std::string>* cells) const {
    cells->push_back(FormatTorchShare(row.self_cpu_time_total, shape_.self_cpu_sum));
    cells->push_back(Time(row.self_cpu_time_total));
    cells->push_back(row.is_async ? "0" : FormatTorchShare(row.cpu_time_total, shape_.self_cpu_sum));
    cells->push_back(Time(row.cpu_time_total));
    cells->push_back(Time(row.cpu_time));
    if (!shape_.has_device_time) return;
    cells->push_back(Time(row.self_device_time_total));
    cells->push_back(FormatTorchShare(row.self_device_time_total, shape_.self_device_sum));
    cells->push_back(Time(row.device_time_total));
    cells->push_back(Time(row.device_time));
  }

  void AppendMemory(const TorchTableRow& row, std::vector<std::string>* cells) const {
    if (!options_.profile_memory) return;
    cells->push_back(FormatTorchMemory(row.cpu_memory_usage));
    cells->push_back(FormatTorchMemory(row.self_cpu_memory_usage));
    if (options_.use_device.empty() || !shape_.has_device_memory) return;
    cells->push_back(FormatTorchMemory(row.device_memory_usage));
    cells->push_back(FormatTorchMemory(row.self_device_memory_usage));
  }

  std::string FrameCell(std::string_view frame) const {
    return ruler_.last(frame, WidthFor(shape_.frame_length, options_.max_src_column_width));
  }

  void WriteRow(const TorchTableRow& row) {
    std::vector<std::string> cells = {CutName(row.key)};
    if (shape_.has_overloads) cells.push_back(CutName(row.overload_name));
    AppendTimes(row, &cells);
    AppendMemory(row, &cells);
    cells.push_back(std::to_string(row.count));
    if (shape_.has_nodes) cells.push_back(std::to_string(row.node_id));
    if (shape_.has_shapes) {
      const int64_t width = WidthFor(shape_.shapes_length, options_.max_shapes_column_width);
      cells.emplace_back(ruler_.first(row.input_shapes, width));
    }
    const size_t source = cells.size();
    if (shape_.has_stacks) cells.push_back(row.stack.empty() ? "" : FrameCell(row.stack.front()));
    if (shape_.smallest_flops > 0) cells.push_back(FormatTorchFlops(row.flops, shape_.smallest_flops));
    const bool is_swapped = options_.compat_swapped_cells && shape_.has_stacks && shape_.smallest_flops > 0;
    if (is_swapped) std::swap(cells[source], cells[source + 1]);
    WriteCells(cells);
    const size_t frames = options_.compat_swapped_cells ? columns_.size() - 1 : source;
    if (shape_.has_stacks && frames < shown_) WriteFurtherFrames(row, frames);
  }

  void WriteFurtherFrames(const TorchTableRow& row, size_t column) {
    std::vector<std::string> cells(columns_.size());
    for (size_t i = 1; i < row.stack.size(); ++i) {
      cells[column] = FrameCell(row.stack[i]);
      WriteCells(cells);
    }
    cells[column].clear();
    WriteCells(cells);
  }

  const TableShape& shape_;
  const TorchTableOptions& options_;
  const TextRuler& ruler_;
  const std::vector<TableColumn> columns_;
  const size_t shown_;  // number of columns shown
  std::string separator_;
  std::string text_;
};

// The rows to print. Sums and widths cover all rows.
Rows PrintedRows(const Rows& rows, const TorchTableOptions& options) {
  Rows printed;
  for (const TorchTableRow* row : rows) {
    if (static_cast<int64_t>(printed.size()) == options.row_limit) break;
    if (!options.top_level_events_only || !row->has_cpu_parent) printed.push_back(row);
  }
  return printed;
}

// A time whose total is 0, for which torch raises an error.
std::optional<double> TimeWithoutTotal(const TorchTableRow& row, const TableShape& shape) {
  if (shape.self_cpu_sum == 0 && row.self_cpu_time_total != 0) return row.self_cpu_time_total;
  if (shape.self_cpu_sum == 0 && !row.is_async && row.cpu_time_total != 0) return row.cpu_time_total;
  const bool has_device_share = shape.has_device_time && shape.self_device_sum == 0;
  if (has_device_share && row.self_device_time_total != 0) return row.self_device_time_total;
  return std::nullopt;
}

// Checks for the errors that torch raises while formatting, before any text is made.
Status CheckFormattable(const Rows& printed, const TableShape& shape, const TorchTableOptions& options) {
  for (const TableColumn& column : Columns(shape, options)) {
    if (column.width < 0) return Error{ErrorCode::kInvalidArgument, "Sign not allowed in string format specifier"};
  }
  if (!options.fail_like_torch) return {};
  if (options.use_device.empty() && shape.has_device_time) {
    return Error{ErrorCode::kInvalidArgument, "use_device is None, but there is device performance data."};
  }
  for (const TorchTableRow* row : printed) {
    if (const std::optional<double> time = TimeWithoutTotal(*row, shape)) {
      return Error{ErrorCode::kInvalidArgument, "Expected time_us == 0 but got " + PythonRepr(*time)};
    }
  }
  return {};
}

}  // namespace

Result<std::string> FormatTorchTable(std::span<const TorchTableRow> rows, const TorchTableOptions& options) {
  if (rows.empty()) return std::string();
  if (options.is_escaped) {
    const EscapedTable escaped(rows, options);
    return FormatTorchTable(escaped.rows, escaped.options);
  }
  Rows ordered;
  ordered.reserve(rows.size());
  for (const TorchTableRow& row : rows)
    ordered.push_back(&row);
  OPSCOPE_TRY(SortAsTorch(options.sort_by, &ordered));
  const TableShape shape = Measure(ordered, options);
  const Rows printed = PrintedRows(ordered, options);
  OPSCOPE_TRY(CheckFormattable(printed, shape, options));
  TorchTableOptions fitted = options;
  const size_t shown = FitIntoTerminal(shape, &fitted);
  return TableWriter(shape, fitted, shown).Write(printed);
}

}  // namespace opscope

// torch's table of operators, character for character, and a plain table of the
// same rows that reads better.
//
//   const std::vector<TorchTableRow> rows = TorchTableRows(trace, events, averages);
//   const Result<std::string> text = FormatTorchTable(rows, {.sort_by = "self_cpu_time_total", .row_limit = 20});
//
// Thread rule: pure functions; views in rows must live until the call returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"
#include "opscope/torch/function_events.h"
#include "opscope/trace.h"

namespace opscope {

// What torch's table reads of a FunctionEvent or FunctionEventAvg. Times in
// microseconds, memory in bytes.
struct TorchTableRow {
  // Name of the event or group.
  std::string_view key;
  // "" for None.
  std::string_view overload_name;
  // str(evt.input_shapes).
  std::string_view input_shapes;
  // input_shapes is not None and len(input_shapes) > 0.
  bool has_input_shapes = false;
  // Frames, innermost first.
  std::vector<std::string_view> stack;
  // torch's attributes of these names. "self" is without children; *_time is the
  // mean per call.
  double self_cpu_time_total = 0;
  double cpu_time_total = 0;
  double cpu_time = 0;
  double self_device_time_total = 0;
  double device_time_total = 0;
  double device_time = 0;
  int64_t cpu_memory_usage = 0;
  int64_t self_cpu_memory_usage = 0;
  int64_t device_memory_usage = 0;
  int64_t self_device_memory_usage = 0;
  // Number of calls; 1 for an event.
  int64_t count = 0;
  // -1: none.
  int64_t node_id = -1;
  // 0: unknown.
  double flops = 0;
  bool is_async = false;
  bool is_legacy = false;
  bool is_user_annotation = false;
  bool has_cpu_parent = false;
  // device_type == CPU.
  bool is_cpu = true;
  // device_type is CUDA, PrivateUse1, MTIA or XPU.
  bool counts_as_device = false;
};

// Arguments of EventList.table(), and opscope's own.
struct TorchTableOptions {
  // torch's names, cuda_/xpu_/privateuse1_ spellings included; "": the order of the
  // rows.
  std::string sort_by;
  // Number of rows; -1: all.
  int64_t row_limit = 100;
  // Widths of columns in characters; nullopt: None.
  std::optional<int64_t> max_src_column_width = 75;
  std::optional<int64_t> max_name_column_width = 55;
  std::optional<int64_t> max_shapes_column_width = 80;
  // A line above the table; nullopt: none.
  std::optional<std::string> header;
  // Leave out rows with a CPU parent.
  bool top_level_events_only = false;
  // "s", "ms", "us"; anything else: the largest unit that fits each time.
  std::string time_unit;
  // Options of the recording: show columns of memory, and of FLOPs.
  bool profile_memory = false;
  bool with_flops = false;
  // events[0].use_device; "": None.
  std::string use_device;
  // Repeats torch's bug: with both columns, the cells of FLOPs and of "Source
  // Location" are swapped.
  bool compat_swapped_cells = false;
  // A line below the totals; "": none.
  std::string note;
  // For a terminal, unlike torch: escapes control characters in every text.
  bool is_escaped = false;
  // For a terminal, unlike torch: drops columns from the right, with a line that
  // says so, and shortens names, so that no line is wider than this many columns.
  // 0: no limit.
  size_t width = 0;
  // True: fail like torch for want of a total or a device. False: print "NaN" in
  // such cells.
  bool fail_like_torch = true;
};

// The text of EventList.table(). kInvalidArgument with torch's message where torch
// raises, such as "'FunctionEventAvg' object has no attribute 'x'" for an unknown
// sort_by. O(n log n).
[[nodiscard]] Result<std::string> FormatTorchTable(std::span<const TorchTableRow> rows,
                                                   const TorchTableOptions& options);

// The plain table: whole names at the end of the line, shares that add up to
// 100.00, and a last row with the sum of what row_limit leaves out. Ignores the
// widths, use_device, and what only torch's layout needs.
[[nodiscard]] Result<std::string> FormatPlainTable(std::span<const TorchTableRow> rows,
                                                   const TorchTableOptions& options);

// The rows of torch's table for averages. Views point into `events`, `averages` and
// the Trace.
[[nodiscard]] std::vector<TorchTableRow> TorchTableRows(const Trace& trace, const FunctionEvents& events,
                                                        std::span<const FunctionEventAverage> averages);

// torch's texts of a time and of a size in bytes: "1.234ms", "12.00 KB".
[[nodiscard]] std::string FormatTorchTime(double time_us);
[[nodiscard]] std::string FormatTorchMemory(int64_t bytes);

}  // namespace opscope

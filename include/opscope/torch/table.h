// Torch's table of operators, character for character, and the same rows to be read.
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

// What torch's table reads of a FunctionEvent or a FunctionEventAvg. Times in microseconds.
struct TorchTableRow {
  std::string_view key;
  std::string_view overload_name;  // "" for None
  std::string_view input_shapes;   // str(evt.input_shapes)
  bool has_input_shapes = false;   // input_shapes is not None and len() > 0
  std::vector<std::string_view> stack;
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
  int64_t count = 0;
  int64_t node_id = -1;
  double flops = 0;
  bool is_async = false;
  bool is_legacy = false;
  bool is_user_annotation = false;
  bool has_cpu_parent = false;
  bool is_cpu = true;             // device_type == CPU
  bool counts_as_device = false;  // device_type in CUDA, PrivateUse1, MTIA, XPU
};

struct TorchTableOptions {
  std::string sort_by;      // "": list order; torch's names, cuda_/xpu_/privateuse1_ spellings too
  int64_t row_limit = 100;  // -1: all
  std::optional<int64_t> max_src_column_width = 75;  // nullopt: None
  std::optional<int64_t> max_name_column_width = 55;
  std::optional<int64_t> max_shapes_column_width = 80;
  std::optional<std::string> header;
  bool top_level_events_only = false;
  std::string time_unit;  // "s", "ms", "us"; anything else: as large as fits
  bool profile_memory = false;
  bool with_flops = false;
  std::string use_device;  // events[0].use_device; "": None
  // torch prints the FLOPs cell under "Source Location" and the reverse when both columns are there.
  bool compat_swapped_cells = false;
  std::string note;  // a line below the totals; "": none
  // For a terminal, and not as torch does: what it would obey is escaped in every text, and with a width other than 0
  // columns are left out from the right, which a line says, and names are cut, so that no line is wider.
  bool is_escaped = false;
  size_t width = 0;
  // True: where torch raises for want of a total or a device, so does this. False: such cells print "NaN".
  bool refuse_as_torch = true;
};

// The text of EventList.table(), character for character. kInvalidArgument with torch's message where
// torch raises (unknown sort_by: "'FunctionEventAvg' object has no attribute 'x'").
[[nodiscard]] Result<std::string> FormatTorchTable(std::span<const TorchTableRow> rows,
                                                   const TorchTableOptions& options);

// The same rows to be read: whole names at the end of the line, shares that add up to 100.00, and what row_limit leaves
// out summed in a last row. Ignores the widths, use_device and what keeps torch's layout.
[[nodiscard]] Result<std::string> FormatPlainTable(std::span<const TorchTableRow> rows,
                                                   const TorchTableOptions& options);

// The rows of torch's table for averages. The views point into `events`, `averages` and the Trace.
[[nodiscard]] std::vector<TorchTableRow> TorchTableRows(const Trace& trace, const FunctionEvents& events,
                                                        std::span<const FunctionEventAverage> averages);

// FormattedTimesMixin's text of a time, and torch's text of a size: "1.234ms", "12.00 KB".
[[nodiscard]] std::string FormatTorchTime(double time_us);
[[nodiscard]] std::string FormatTorchMemory(int64_t bytes);

}  // namespace opscope

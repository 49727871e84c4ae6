// Results as text: torch's table, tables for people, JSON of the command line. Functions return
// strings; nothing here prints.
//
// Thread rule: pure functions; views in rows must live until the call returns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/devices.h"
#include "opscope/analysis/flame.h"
#include "opscope/analysis/modules.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/merge.h"
#include "opscope/result.h"
#include "opscope/torch/function_events.h"
#include "opscope/torch/memory_timeline.h"
#include "opscope/trace.h"

namespace opscope {

// ---- torch's table ------------------------------------------------------------------------------

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

// One line for below a table: what is missing from the recording, "" when nothing is.
[[nodiscard]] std::string FormatLoss(const Trace& trace);

// The rows of torch's table for averages. The views point into `events`, `averages` and the Trace.
[[nodiscard]] std::vector<TorchTableRow> TorchTableRows(const Trace& trace, const FunctionEvents& events,
                                                        std::span<const FunctionEventAverage> averages);

// FormattedTimesMixin's text of a time, and torch's text of a size: "1.234ms", "12.00 KB".
[[nodiscard]] std::string FormatTorchTime(double time_us);
[[nodiscard]] std::string FormatTorchMemory(int64_t bytes);

// ---- memory timeline ----------------------------------------------------------------------------

// torch's files: [times in us, [0, bytes by category in the order of MemoryCategory] by time].
[[nodiscard]] std::string MemoryTimelineJson(const MemoryByCategory& sums);
// And [time in ns or -1, action, bytes gained, category] by event; a write loses in one category and gains in another.
[[nodiscard]] std::string MemoryTimelineRawJson(const MemoryTimeline& timeline, MemoryDevice device, int64_t epoch_ns);
// A page with the stacked areas as SVG, in torch's colours, and a table; it needs no other file.
[[nodiscard]] std::string MemoryTimelineHtml(const MemoryByCategory& sums, std::string_view title);

// ---- tables for people, JSON, CSV ---------------------------------------------------------------
// In tables for people, control characters, marks of direction and bytes that are no text are escaped. In a terminal
// columns are left out from the right, which a line says, and then long texts are cut, so that no line is wider.

// Of every result that has rows.
struct RowOptions {
  size_t limit = 0;  // rows; 0: all
  size_t width = 0;  // of the terminal, in columns; 0: any
  std::string sort;  // a key of the rows, largest first ("total" may stand for "total_ns"); "": as they come
};

struct SummaryTableOptions {
  size_t limit = 0;        // rows; 0: all
  size_t width = 0;        // of the terminal, in columns; 0: any
  bool flop_rate = false;  // a column FLOP/s, where ops have FLOPs
  double peak_flops = 0;   // of the machine, per second: a column with the share of it; 0: none
  std::string sort = {};   // the field that the rows were sorted by: a narrow terminal keeps it; "": none
};
// Without rows there is no table.
[[nodiscard]] std::string FormatSummaryTable(const Trace& trace, const OpSummary& summary,
                                             const SummaryTableOptions& options = {});
// "opscope.summary/1". limit 0: all rows.
[[nodiscard]] std::string SummaryJson(const Trace& trace, const OpSummary& summary, size_t limit = 0);
[[nodiscard]] std::string SummaryCsv(const Trace& trace, const OpSummary& summary, size_t limit = 0);

// "opscope.info/1".
[[nodiscard]] std::string InfoJson(const Trace& trace);
[[nodiscard]] std::string FormatInfo(const Trace& trace);
// One line per input, below the names of the columns.
[[nodiscard]] std::string InfoCsv(const Trace& trace, std::string_view file, bool has_header = true);

// "opscope.merge/1", and a row per input for people.
[[nodiscard]] std::string MergeJson(const Merged& merged);
[[nodiscard]] std::string FormatMerge(const Merged& merged, size_t width = 0);
[[nodiscard]] std::string MergeCsv(const Merged& merged);

// One line about corrected times: what was taken off, and how many spans came out below 0.
[[nodiscard]] std::string FormatCorrection(const Correction& correction);

// The "problems" array, and one line per problem for people ("" when there is none).
[[nodiscard]] std::string ProblemsJson(const Trace& trace);
[[nodiscard]] std::string FormatProblems(const Trace& trace);

// ---- flame graphs -------------------------------------------------------------------------------

// A line per path with a value of its own, `outermost;...;innermost VALUE`: the input of flamegraph.pl and the like.
[[nodiscard]] std::string FoldedStacks(const FlameTree& tree);
// The same in pieces of about a megabyte: many deep paths are long.
void FoldedStacks(const FlameTree& tree, const std::function<void(std::string_view piece)>& take);

struct FlameSvgOptions {
  std::string title = "Flame graph";
  double width = 1200;     // pixels
  double narrowest = 0.1;  // pixels: what is narrower is not drawn, and counted below the graph
  bool inverted = false;   // the root above, as an icicle
};
// An SVG file that needs nothing else, with zoom and search where scripts run.
[[nodiscard]] std::string FlameGraphSvg(const FlameTree& tree, const FlameSvgOptions& options = {});

// What a file of this name is to hold (WriteText in opscope/export.h): the graph in NAME.svg, also in capitals and with
// .gz or .zst behind it; else folded stacks.
[[nodiscard]] std::string FlameFileText(const FlameTree& tree, std::string_view path,
                                        const FlameSvgOptions& options = {});

// ---- modules ------------------------------------------------------------------------------------

// A line per module, indented by its depth, in the order of the program, or sorted and by path; "" when the input has
// no modules. kInvalidArgument: options.sort is no key.
[[nodiscard]] Result<std::string> FormatModuleTable(const ModuleSummary& summary, const RowOptions& options = {});
[[nodiscard]] Result<std::string> ModulesCsv(const ModuleSummary& summary, const RowOptions& options = {});
// "opscope.modules/1".
[[nodiscard]] Result<std::string> ModulesJson(const Trace& trace, const ModuleSummary& summary,
                                              const RowOptions& options = {});

// ---- devices ------------------------------------------------------------------------------------

// A line per device and stream; "" when the input has no work of devices. kInvalidArgument: options.sort is no key.
[[nodiscard]] Result<std::string> FormatDeviceTable(const Trace& trace, const std::vector<DeviceRow>& devices,
                                                    const RowOptions& options = {});
[[nodiscard]] Result<std::string> DevicesCsv(const Trace& trace, const std::vector<DeviceRow>& devices,
                                             const RowOptions& options = {});
// "opscope.devices/1".
[[nodiscard]] Result<std::string> DevicesJson(const Trace& trace, const std::vector<DeviceRow>& devices,
                                              const RowOptions& options = {});

}  // namespace opscope

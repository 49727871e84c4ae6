// The operator summary: spans grouped by name (and more), with counts and times.
// docs/reference/analyses.md defines every number.
//
//   const OpSummary summary = SummarizeOps(trace, {.group_by = {GroupKey::kName, GroupKey::kShape}});
//   for (const OpSummaryRow& row : summary.rows) Print(summary.NameOf(trace, row), row.keys[0], row.self_ns);
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/overhead.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

// What spans are grouped by. GroupKeyNames has the names in this order.
enum class GroupKey : uint8_t {
  kName,
  // Shapes of the inputs.
  kShape,
  // The input's own category.
  kCategory,
  // Thread or stream by name; with its number if several have that name.
  kThread,
  kDevice,
  // Call stack, outermost first; without recorded stacks, the Python calls around
  // the span.
  kStack,
  kModule,
  kKind,
  kProcess,
  kRank,
  // The step of its rank in whose time the span begins.
  kStep,
};

// What to summarise, and how.
struct OpSummaryOptions {
  std::vector<GroupKey> group_by = {GroupKey::kName};
  // Of this Trace: subtract the cost of recording from all times. nullptr: times as
  // recorded.
  const SpanOverheads* overhead = nullptr;
  // One entry per span (SpanFilter::Select), only spans with 1 count; nullptr:
  // every span. Self times subtract all children, selected or not.
  const std::vector<uint8_t>* selected = nullptr;
  // Threads that count at once, the caller among them; all others end before the
  // call does. 0: as many as the number of spans justifies and the caller's
  // processors allow, at most 8. Does not change the result.
  uint32_t max_threads = 0;
  // Spans "ProfilerStep#N" are one row, "ProfilerStep*", as in torch's table.
  bool join_steps = false;
  // Leave out Kineto's span of the whole recording, "PyTorch Profiler (0)".
  bool leaves_out_window = false;
  // About the most bytes that the texts of keys take; 0: any number. Rows with the smallest
  // self times are left out for it (OpSummary::left_out).
  size_t max_key_bytes = 0;
};

// One group. A row has host spans or device spans, never both; a name can have one
// row of each. Times in nanoseconds.
struct OpSummaryRow {
  StringId name = StringId::kEmpty;
  // True: spans of device streams and their annotations.
  bool on_device = false;
  // Texts of the further group keys, in the order of group_by without kName.
  std::vector<std::string> keys;
  // Number of spans, at least 1.
  uint64_t count = 0;
  // Sum of the durations, without spans inside of a span of the same row and track
  // (recursion).
  int64_t total_ns = 0;
  // Sum of all durations, as torch's table shows it.
  int64_t total_with_recursion_ns = 0;
  // Sum of the self times: durations without direct children.
  int64_t self_ns = 0;
  // The part of self_ns on threads, not on devices and their annotations.
  int64_t thread_self_ns = 0;
  // Shortest duration.
  int64_t min_ns = 0;
  // Longest duration.
  int64_t max_ns = 0;
  // Median and 99th percentile: durations that occurred.
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  // Standard deviation of the population.
  int64_t stddev_ns = 0;
  // Host spans: device time launched beneath them. Device spans: total_ns.
  int64_t device_total_ns = 0;
  // Host spans: device time launched by themselves. Device spans: self_ns.
  int64_t device_self_ns = 0;
  // Bytes allocated minus bytes freed, without direct children.
  int64_t self_memory_bytes = 0;
  // Floating-point operations; 0: unknown.
  int64_t flops = 0;
  // Operations per second of the calls' device time, else of their thread time. 0:
  // no FLOPs.
  double flops_per_s() const {
    const int64_t ns = device_total_ns > 0 ? device_total_ns : total_with_recursion_ns;
    return flops == 0 || ns <= 0 ? 0 : static_cast<double>(flops) / (static_cast<double>(ns) * 1e-9);
  }
  // Mean duration, rounded down. If the sum saturated at 2^63 - 1, a lower bound.
  int64_t mean_ns() const {
    if (count == 0) return 0;
    const int64_t mean = total_with_recursion_ns / static_cast<int64_t>(count);
    return total_with_recursion_ns == INT64_MAX && mean < min_ns ? min_ns : mean;
  }
};

// All groups.
struct OpSummary {
  // True if group_by contains kName.
  bool has_name = true;
  // "shape", "category", ...: names of OpSummaryRow::keys.
  std::vector<std::string> key_names;
  // In order of first appearance.
  std::vector<OpSummaryRow> rows;
  // Set if times are without the cost of recording; then no field is below 0.
  std::optional<Correction> correction;
  // Self time of all spans of threads: the base of shares.
  int64_t thread_self_ns = 0;
  // Self time of device spans, or device time launched by host spans, whichever is
  // more.
  int64_t device_self_ns = 0;
  bool joins_steps = false;
  // Rows that are left out, and the sums of their fields, as recorded.
  struct LeftOut {
    size_t rows = 0;
    int64_t count = 0;
    int64_t self_ns = 0;
    int64_t total_with_recursion_ns = 0;
  };
  LeftOut left_out;

  // The row's name as tables print it ("ProfilerStep*").
  std::string_view NameOf(const Trace& trace, const OpSummaryRow& row) const;

  // Share of the row's thread self time, 0 to 1; nullopt if there is no thread self
  // time.
  std::optional<double> ShareOf(const OpSummaryRow& row) const {
    if (thread_self_ns <= 0) return std::nullopt;
    return static_cast<double>(row.thread_self_ns) / static_cast<double>(thread_self_ns);
  }
};

// "name", "shape", ..., "step", in the order of GroupKey.
[[nodiscard]] std::span<const std::string_view> GroupKeyNames();
// nullopt: no key has this name.
[[nodiscard]] std::optional<GroupKey> GroupKeyFromName(std::string_view name);

// Divides large traces among threads.
[[nodiscard]] OpSummary SummarizeOps(const Trace& trace, const OpSummaryOptions& options = {});

}  // namespace opscope

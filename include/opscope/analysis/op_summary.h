// The operator summary: spans grouped by name (and more), with counts and times. The definition of
// every number is in docs/analyses.md.
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/analysis/own_cost.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

enum class GroupKey : uint8_t {
  kName,
  kShape,     // of the inputs
  kCategory,  // as the input calls it
  kThread,    // the thread or stream: its name, and its number where others have the same name
  kDevice,
  kStack,  // of calls, outermost first; where the input has no stacks, the calls of Python around the span
  kModule,
  kKind,
  kProcess,
  kRank,
  kStep,  // in whose time the span begins, of its own rank
};

struct OpSummaryOptions {
  std::vector<GroupKey> group_by = {GroupKey::kName};
  const OwnCostOfSpans* own_cost = nullptr;  // of this Trace: times are without it
  // Of this Trace, one entry per span (SpanFilter::Select): only spans with 1 count; the others are as if unseen, but
  // for self times, which are without all children. nullptr: every span.
  const std::vector<uint8_t>* selected = nullptr;
  // Threads that count at once, the caller among them; the others end before the call does. 0: as many as the number of
  // spans deserves and the caller's processors allow, at most 8. The summary is the same in any case.
  uint32_t max_threads = 0;
  bool join_steps = false;         // spans "ProfilerStep#N" are one row, "ProfilerStep*", as in torch's table
  bool leaves_out_window = false;  // without Kineto's own span of the whole recording, "PyTorch Profiler (0)"
};

// A row has spans of hosts, or of devices (streams and their annotations), never both: a name can have two rows.
struct OpSummaryRow {
  StringId name = StringId::kEmpty;
  bool on_device = false;
  std::vector<std::string> keys;  // texts of the further group keys, in the order of group_by after kName
  uint64_t count = 0;
  int64_t total_ns = 0;                 // a span counts unless it lies inside a span of the row on its track
  int64_t total_with_recursion_ns = 0;  // plain sum (what torch's table shows)
  int64_t self_ns = 0;                  // without direct children
  int64_t thread_self_ns = 0;           // the part of that on threads (not on devices, not annotations of them)
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t p50_ns = 0;  // durations that occurred: half, and 99 of 100, are not longer
  int64_t p99_ns = 0;
  int64_t stddev_ns = 0;  // of the population
  // Host spans: device time launched beneath them, by them alone; device spans: their own total and self time.
  int64_t device_total_ns = 0;
  int64_t device_self_ns = 0;
  int64_t self_memory_bytes = 0;
  int64_t flops = 0;
  // Operations per second of the calls' time: on the devices that they used, else on their thread. 0: no FLOPs.
  double flops_per_s() const {
    const int64_t ns = device_total_ns > 0 ? device_total_ns : total_with_recursion_ns;
    return flops == 0 || ns <= 0 ? 0 : static_cast<double>(flops) / (static_cast<double>(ns) * 1e-9);
  }
  // Of a sum that stopped at 2^63 - 1, the least that it can be.
  int64_t mean_ns() const {
    if (count == 0) return 0;
    const int64_t mean = total_with_recursion_ns / static_cast<int64_t>(count);
    return total_with_recursion_ns == INT64_MAX && mean < min_ns ? min_ns : mean;
  }
};

struct OpSummary {
  bool has_name = true;                  // group_by holds kName
  std::vector<std::string> key_names;    // "shape", "category", ...: JSON keys of OpSummaryRow::keys
  std::vector<OpSummaryRow> rows;        // in order of first appearance
  std::optional<Correction> correction;  // times are without what recording took; no field is below 0
  int64_t thread_self_ns = 0;            // self time of all spans of threads: what shares are taken of
  int64_t device_self_ns = 0;            // of device spans or launched by host spans, whichever is more: the same
  bool joins_steps = false;

  // As a table shows it.
  std::string_view NameOf(const Trace& trace, const OpSummaryRow& row) const;

  // Self time on threads as a part of that of all spans; nullopt where that is 0.
  std::optional<double> ShareOf(const OpSummaryRow& row) const {
    if (thread_self_ns <= 0) return std::nullopt;
    return static_cast<double>(row.thread_self_ns) / static_cast<double>(thread_self_ns);
  }
};

// "name", "shape", ..., "step", in the order of GroupKey.
[[nodiscard]] std::span<const std::string_view> GroupKeyNames();
// nullopt: no key has this name.
[[nodiscard]] std::optional<GroupKey> GroupKeyFromName(std::string_view name);

[[nodiscard]] OpSummary SummarizeOps(const Trace& trace, const OpSummaryOptions& options = {});

}  // namespace opscope

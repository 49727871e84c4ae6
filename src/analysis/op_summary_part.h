// What some rows add to the operator summary: sums by group. Parts of consecutive chunks of rows make the whole.
//
// Thread rule: one thread at a time for each part; the input is read by all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/device_launches.h"
#include "analysis/group_keys.h"
#include "analysis/op_summary_steps.h"
#include "analysis/span_walk.h"
#include "analysis/steps_of_ranks.h"
#include "analysis/torch/flop_calls.h"
#include "base/saturating.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/trace.h"

namespace opscope {

// A damaged file may have times with any sum. Sums of times saturate at 2^63 - 1. Sums with negative terms use 128
// bits, so that the result does not depend on the order, and saturate when they are reported (SaturateToInt64).
using Int128Sum = __int128;
inline int64_t SaturateToInt64(Int128Sum sum) {
  return static_cast<int64_t>(std::clamp<Int128Sum>(sum, INT64_MIN, INT64_MAX));
}

struct GroupSums {
  // What a span adds when it begins,
  uint32_t first_span = 0;
  uint32_t open = 0;  // spans of the group that are open around the next one
  uint64_t count = 0;
  int64_t min_ns = INT64_MAX, max_ns = INT64_MIN;
  int64_t total_ns = 0, total_with_recursion_ns = 0;
  Int128Sum flops = 0;
  // and when all inside it were seen.
  int64_t self_ns = 0, thread_self_ns = 0;
  int64_t device_total_ns = 0, device_self_ns = 0;
  Int128Sum memory_bytes = 0;
  uint32_t last_step_self = OpenSpan::kNone;  // where in SummarySums::step_self its last span was added

  void Add(const GroupSums& other);
};

// What recording took of a group's times. Fractions add up before they are rounded.
struct GroupCost {
  double total_ns = 0, total_with_recursion_ns = 0, self_ns = 0, thread_self_ns = 0;

  void Add(const GroupCost& other);
};

struct SummaryInput {
  const Trace& trace;
  const SpanColumns& spans;
  const OpSummaryOptions& options;
  const DeviceLaunches& launches;
  const SpanGrouper& grouper;
  const FlopNames& flop_names;
  std::span<uint32_t> group_of;  // by span: written by its part, numbers of the part's groups; kNone: not selected
  std::span<int64_t> ends;       // by span: clipped to its parent's, written when asked for; else empty
  const StepsOfRanks* steps = nullptr;  // self times are grouped by these too; nullptr: they are not

  // A duration as the smallest, the largest and the quantiles show it.
  int64_t ReportedDuration(size_t span) const {
    const int64_t duration = spans.duration[span].ns;
    return std::max<int64_t>(0, options.overhead == nullptr ? duration : duration - CostOf(span));
  }

 private:
  int64_t CostOf(size_t span) const;
};

struct SummarySums {
  std::vector<GroupSums> groups;    // in order of first appearance
  std::vector<GroupCost> costs;     // by group when times are corrected
  std::vector<FlopCall> calls;      // whole calls, selected or not
  uint64_t below_zero = 0;          // spans that are below 0 when corrected
  std::vector<StepSelf> step_self;  // in no order; a group and a step may occur more than once

  void Clear();  // keeps the memory
  uint32_t AddGroup(const SummaryInput& input, size_t first_span);
  // Adds what is known of a span when all of its descendants were seen.
  void Complete(const SummaryInput& input, const OpenSpan& span) {
    if (span.group == OpenSpan::kNone) return;
    GroupSums& sums = groups[span.group];
    const int64_t self = span.self_ns();
    sums.self_ns = SaturatingAdd(sums.self_ns, self);
    sums.thread_self_ns = SaturatingAdd(sums.thread_self_ns, span.is_thread ? self : 0);
    if (input.launches.has_device()) {
      sums.device_self_ns = SaturatingAdd(sums.device_self_ns, span.device_self_ns());
      const int64_t device_total = span.is_nested ? 0 : span.device_total_ns(input.spans.duration[span.row]);
      sums.device_total_ns = SaturatingAdd(sums.device_total_ns, device_total);
    }
    if (input.options.overhead != nullptr) CountNegativeTimes(input, span);
    if (span.step != StepsOfRanks::kNone && self != 0) AddToStep(span, self);
  }

 private:
  // Spans of a group come step by step, so the entry is nearly always that of the span before.
  void AddToStep(const OpenSpan& span, int64_t self_ns) {
    uint32_t& entry = groups[span.group].last_step_self;
    if (entry == OpenSpan::kNone || step_self[entry].step != span.step) {
      entry = static_cast<uint32_t>(step_self.size());
      step_self.push_back({span.group, span.step, 0});
    }
    step_self[entry].self_ns = SaturatingAdd(step_self[entry].self_ns, self_ns);
  }
  void CountNegativeTimes(const SummaryInput& input, const OpenSpan& span);
};

struct SummaryPart {
  SummarySums sums;
  WalkedRows walked;
};

// Makes parts, one after another. Each thread has its own PartCounter.
class PartCounter {
 public:
  explicit PartCounter(const SummaryInput& input);
  ~PartCounter();
  SummaryPart Count(size_t first_row, size_t end_row);

 private:
  class Visitor;
  std::unique_ptr<Visitor> visitor_;
};

// SummarizeOps with chunks of so many rows, 0: as many as it should be. For tests.
OpSummary SummarizeOpsInChunks(const Trace& trace, const OpSummaryOptions& options, size_t chunk_size);

}  // namespace opscope

// What some rows add to the operator summary: sums by group. Parts of consecutive chunks of rows make the whole.
//
// Thread rule: one thread at a time for each part; the input is read by all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/device_launches.h"
#include "analysis/flop_calls.h"
#include "analysis/group_keys.h"
#include "analysis/span_walk.h"
#include "opscope/analysis/op_summary.h"
#include "opscope/trace.h"

namespace opscope {

// Sums wrap as the machine does: durations of hostile files add up to any number.
struct GroupSums {
  // What a span adds when it begins,
  uint32_t first_span = 0;
  uint32_t open = 0;  // spans of the group that are open, where groups are names
  uint64_t count = 0;
  int64_t min_ns = INT64_MAX, max_ns = INT64_MIN;
  uint64_t total_ns = 0, total_with_recursion_ns = 0, flops = 0;
  // and when all inside it were seen.
  uint64_t self_ns = 0, thread_self_ns = 0, device_total_ns = 0, device_self_ns = 0;
  uint64_t memory_bytes = 0;

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

  bool IsSelected(size_t span) const { return options.selected == nullptr || (*options.selected)[span] != 0; }
  // A duration as the smallest, the largest and the spread show it.
  int64_t ShownDuration(size_t span) const;
};

struct SummarySums {
  std::vector<GroupSums> groups;  // in order of first appearance
  std::vector<GroupCost> costs;   // by group when times are corrected
  std::vector<FlopCall> calls;    // whole calls, selected or not
  uint64_t below_zero = 0;        // spans that are below 0 when corrected

  uint32_t AddGroup(const SummaryInput& input, size_t first_span);
  // Adds what is known of a span when all of its descendants were seen.
  void Complete(const SummaryInput& input, const OpenSpan& span);
};

struct SummaryPart {
  SummarySums sums;
  WalkedRows walked;
};

// Makes parts, one after another; a thread has one of its own.
class PartCounter {
 public:
  explicit PartCounter(const SummaryInput& input);
  SummaryPart Count(size_t first_row, size_t end_row);

  // Of SpanWalk.
  void Enter(OpenSpan* span, const OpenSpan* parent);
  void EnterAround(OpenSpan* span, const OpenSpan* parent);
  void Close(const OpenSpan& span);
  void Complete(const OpenSpan& span);

 private:
  // The number of the call, as far as that needs no other: 0 for a whole call.
  int64_t EnterCall(OpenSpan* span, const OpenSpan* parent, bool is_new);
  void AddBegun(const OpenSpan& span, int64_t flops);

  uint32_t FindGroup(size_t span);
  // How many open spans have the name of this one.
  uint32_t& OpenAlike(const OpenSpan& span) {
    return is_by_name_ ? sums_.groups[span.group].open : open_names_[Row(spans_.name[span.row])];
  }

  const SummaryInput& input_;
  const SpanColumns spans_;
  const bool is_by_name_;  // groups are names
  GroupRows groups_;
  NumberTable open_names_;  // where groups are not names
  CallFlops call_flops_;
  SpanWalk<PartCounter> walk_;
  SummarySums sums_;
};

// SummarizeOps with chunks of so many rows, 0: as many as it should be. For tests.
OpSummary SummarizeOpsInChunks(const Trace& trace, const OpSummaryOptions& options, size_t chunk_size);

}  // namespace opscope

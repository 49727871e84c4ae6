// SPDX-License-Identifier: Apache-2.0
#include "analysis/op_summary_part.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace opscope {

void GroupSums::Add(const GroupSums& other) {
  count += other.count;
  min_ns = std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  total_ns += other.total_ns;
  total_with_recursion_ns += other.total_with_recursion_ns;
  self_ns += other.self_ns;
  thread_self_ns += other.thread_self_ns;
  device_total_ns += other.device_total_ns;
  device_self_ns += other.device_self_ns;
  memory_bytes += other.memory_bytes;
  flops += other.flops;
}

void GroupCost::Add(const GroupCost& other) {
  total_ns += other.total_ns;
  total_with_recursion_ns += other.total_with_recursion_ns;
  self_ns += other.self_ns;
  thread_self_ns += other.thread_self_ns;
}

int64_t SummaryInput::ShownDuration(size_t span) const {
  const int64_t duration = spans.duration[span].ns;
  if (options.own_cost == nullptr) return std::max<int64_t>(0, duration);
  return std::max<int64_t>(0, duration - std::llround(options.own_cost->subtree_ns[span]));
}

uint32_t SummarySums::AddGroup(const SummaryInput& input, size_t first_span) {
  groups.emplace_back().first_span = static_cast<uint32_t>(first_span);
  if (input.options.own_cost != nullptr) costs.emplace_back();
  return static_cast<uint32_t>(groups.size() - 1);
}

void SummarySums::Complete(const SummaryInput& input, const OpenSpan& span) {
  if (span.group == OpenSpan::kNone) return;
  GroupSums& sums = groups[span.group];
  const int64_t self = span.self_ns();
  const Duration duration = input.spans.duration[span.row];
  sums.self_ns += static_cast<uint64_t>(self);
  if (span.is_thread) sums.thread_self_ns += static_cast<uint64_t>(self);
  sums.device_self_ns += static_cast<uint64_t>(input.launches.has_device() ? span.device_self_ns() : 0);
  if (!span.is_nested) sums.device_total_ns += static_cast<uint64_t>(span.device_total_ns(duration));
  if (const OwnCostOfSpans* cost = input.options.own_cost; cost != nullptr) {
    const bool is_below = static_cast<double>(duration.ns) < cost->subtree_ns[span.row] ||
                          static_cast<double>(self) < cost->own_ns[span.row];
    below_zero += is_below ? 1 : 0;
  }
}

PartCounter::PartCounter(const SummaryInput& input)
    : input_(input),
      spans_(input.spans),
      is_by_name_(input.grouper.keys().size() == 1 && input.grouper.has_name()),
      groups_(input.grouper),
      open_names_(is_by_name_ ? 0 : input.trace.string_count()),
      call_flops_(input.trace),
      walk_(input.trace, this) {
}

SummaryPart PartCounter::Count(size_t first_row, size_t end_row) {
  sums_ = {};
  groups_.Clear();
  SummaryPart part;
  part.walked = walk_.Walk(first_row, end_row);
  part.sums = std::move(sums_);
  return part;
}

int64_t PartCounter::EnterCall(OpenSpan* span, const OpenSpan* parent, bool is_new) {
  if (!input_.flop_names.any()) return 0;
  if (parent != nullptr) span->flop_call = parent->flop_call;
  const FlopRule* rule = input_.flop_names.Of(spans_.name[span->row]);
  if (rule == nullptr || (!is_new && !IsWhole(*rule))) return 0;
  const int64_t flops = call_flops_.Of(*rule, spans_.name[span->row], spans_.args[span->row]);
  if (flops == 0 || !IsWhole(*rule)) return flops;
  if (is_new) sums_.calls.push_back({span->row, span->flop_call, rule->kind == FlopKind::kOwn, flops});
  span->flop_call = span->row;
  return 0;
}

void PartCounter::AddBegun(const OpenSpan& span, int64_t flops) {
  GroupSums& sums = sums_.groups[span.group];
  const auto duration = static_cast<uint64_t>(spans_.duration[span.row].ns);
  const int64_t shown = input_.ShownDuration(span.row);
  ++sums.count;
  sums.min_ns = std::min(sums.min_ns, shown);
  sums.max_ns = std::max(sums.max_ns, shown);
  sums.total_with_recursion_ns += duration;
  if (!span.is_nested) sums.total_ns += duration;
  sums.flops += static_cast<uint64_t>(flops);
  if (input_.options.own_cost == nullptr) return;
  GroupCost& cost = sums_.costs[span.group];
  const double subtree = input_.options.own_cost->subtree_ns[span.row];
  const double own = input_.options.own_cost->own_ns[span.row];
  cost.total_with_recursion_ns += subtree;
  if (!span.is_nested) cost.total_ns += subtree;
  cost.self_ns += own;
  if (span.is_thread) cost.thread_self_ns += own;
}

uint32_t PartCounter::FindGroup(size_t span) {
  const uint32_t group = groups_.Find(span);
  return group == sums_.groups.size() ? sums_.AddGroup(input_, span) : group;
}

void PartCounter::Enter(OpenSpan* span, const OpenSpan* parent) {
  const int64_t flops = EnterCall(span, parent, true);
  if (span->is_thread && input_.launches.has_device()) span->launched = input_.launches.LaunchedBy(span->row);
  if (!input_.ends.empty()) input_.ends[span->row] = span->end;
  if (input_.IsSelected(span->row)) {
    span->group = FindGroup(span->row);
    span->is_nested = OpenAlike(*span)++ > 0;
    AddBegun(*span, flops);
  }
  input_.group_of[span->row] = span->group;
}

void PartCounter::EnterAround(OpenSpan* span, const OpenSpan* parent) {
  EnterCall(span, parent, false);
  if (!input_.IsSelected(span->row)) return;
  // The group stays empty when it has no spans of these rows; the whole knows it from earlier rows.
  span->group = FindGroup(span->row);
  ++OpenAlike(*span);
}

void PartCounter::Close(const OpenSpan& span) {
  if (span.group != OpenSpan::kNone) --OpenAlike(span);
}

void PartCounter::Complete(const OpenSpan& span) {
  sums_.Complete(input_, span);
}

}  // namespace opscope

// Counts the groups of one chunk of rows, for one thread. PartCounter::Visitor is the visitor of SpanWalk
// (span_walk.h): what a span adds on its own (count, duration, FLOPs) is added at Enter, what depends on its
// descendants (self time, device time) at Complete. A span counts for the total of its group only if no span of the
// group encloses it; `open` counts those, so that recursion is not added twice.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/op_summary_part.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/recording_window.h"
#include "analysis/track_spans.h"

namespace opscope {

void GroupSums::Add(const GroupSums& other) {
  count += other.count;
  min_ns = std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
  total_ns = SaturatingAdd(total_ns, other.total_ns);
  total_with_recursion_ns = SaturatingAdd(total_with_recursion_ns, other.total_with_recursion_ns);
  self_ns = SaturatingAdd(self_ns, other.self_ns);
  thread_self_ns = SaturatingAdd(thread_self_ns, other.thread_self_ns);
  device_total_ns = SaturatingAdd(device_total_ns, other.device_total_ns);
  device_self_ns = SaturatingAdd(device_self_ns, other.device_self_ns);
  memory_bytes += other.memory_bytes;
  flops += other.flops;
}

void GroupCost::Add(const GroupCost& other) {
  total_ns += other.total_ns;
  total_with_recursion_ns += other.total_with_recursion_ns;
  self_ns += other.self_ns;
  thread_self_ns += other.thread_self_ns;
}

int64_t SummaryInput::CostOf(size_t span) const {
  return std::llround(options.overhead->subtree_ns[span]);
}

void SummarySums::Clear() {
  groups.clear(), costs.clear(), calls.clear(), step_self.clear();
  below_zero = 0;
}

uint32_t SummarySums::AddGroup(const SummaryInput& input, size_t first_span) {
  groups.emplace_back().first_span = static_cast<uint32_t>(first_span);
  if (input.options.overhead != nullptr) costs.emplace_back();
  return static_cast<uint32_t>(groups.size() - 1);
}

void SummarySums::CountNegativeTimes(const SummaryInput& input, const OpenSpan& span) {
  const SpanOverheads& cost = *input.options.overhead;
  const bool is_below = static_cast<double>(input.spans.duration[span.row].ns) < cost.subtree_ns[span.row] ||
                        static_cast<double>(span.self_ns()) < cost.own_ns[span.row];
  below_zero += is_below ? 1 : 0;
}

// SpanWalk's visitor. Functions that run for every span are defined here, where the compiler can inline them.
class PartCounter::Visitor {
 public:
  explicit Visitor(const SummaryInput& input)
      : input_(input),
        spans_(input.spans),
        has_calls_(input.flop_names.any()),
        has_device_(input.launches.has_device()),
        window_(input.trace),
        groups_(input.grouper),
        call_flops_(input.trace) {
    if (input.steps != nullptr) steps_.emplace(input.trace, *input.steps);
  }

  SummaryPart Count(size_t first_row, size_t end_row) {
    sums_.Clear();
    groups_.Clear();
    SummaryPart part;
    part.walked = SpanWalk(input_.trace, this).Walk(first_row, end_row);
    part.sums = sums_;  // what grew to the size that it needs is used again
    return part;
  }

  void Enter(OpenSpan* span, const OpenSpan* parent) {
    const int64_t flops = has_calls_ ? EnterCall(span, parent, true) : 0;
    if (span->is_thread && has_device_) span->launched = input_.launches.LaunchedBy(span->row);
    if (!input_.ends.empty()) input_.ends[span->row] = span->end;
    if (IsCounted(span->row)) {
      span->group = FindGroup(span->row);
      span->is_nested = sums_.groups[span->group].open++ > 0;
      AddBegun(*span, flops);
      if (steps_) span->step = steps_->StepAt(spans_.track[span->row], spans_.start[span->row].ns);
    }
    input_.group_of[span->row] = span->group;
  }

  void EnterAncestor(OpenSpan* span, const OpenSpan* parent) {
    if (has_calls_) EnterCall(span, parent, false);
    if (!IsCounted(span->row)) return;
    // The group stays empty when it has no spans of these rows; the whole knows it from earlier rows.
    span->group = FindGroup(span->row);
    ++sums_.groups[span->group].open;
  }

  void Close(const OpenSpan& span) {
    if (span.group != OpenSpan::kNone) --sums_.groups[span.group].open;
  }

  void Complete(const OpenSpan& span) { sums_.Complete(input_, span); }

 private:
  // The number of the call, as far as that needs no other: 0 for a whole call.
  int64_t EnterCall(OpenSpan* span, const OpenSpan* parent, bool is_new) {
    if (parent != nullptr) span->flop_call = parent->flop_call;
    const FlopRule* rule = input_.flop_names.Of(spans_.name[span->row]);
    if (rule == nullptr || (!is_new && !IsWhole(*rule))) return 0;
    const int64_t flops = call_flops_.Of(*rule, spans_.name[span->row], spans_.args[span->row]);
    if (flops == 0 || !IsWhole(*rule)) return flops;
    if (is_new) sums_.calls.push_back({span->row, span->flop_call, rule->kind == FlopKind::kOwn, flops});
    span->flop_call = span->row;
    return 0;
  }

  uint32_t FindGroup(size_t span) {
    const uint32_t group = groups_.Find(span);
    return group == sums_.groups.size() ? sums_.AddGroup(input_, span) : group;
  }

  bool IsCounted(size_t span) const {
    return IsSelected(input_.options.selected, span) && !(input_.options.leaves_out_window && window_.Is(span));
  }

  void AddBegun(const OpenSpan& span, int64_t flops) {
    GroupSums& sums = sums_.groups[span.group];
    const int64_t duration = spans_.duration[span.row].ns;
    const int64_t shown = input_.ReportedDuration(span.row);
    ++sums.count;
    sums.min_ns = std::min(sums.min_ns, shown);
    sums.max_ns = std::max(sums.max_ns, shown);
    sums.total_with_recursion_ns = SaturatingAdd(sums.total_with_recursion_ns, duration);
    sums.total_ns = SaturatingAdd(sums.total_ns, span.is_nested ? 0 : duration);
    sums.flops += flops;
    if (input_.options.overhead != nullptr) AddCost(span);
  }

  void AddCost(const OpenSpan& span) {
    GroupCost& cost = sums_.costs[span.group];
    const double subtree = input_.options.overhead->subtree_ns[span.row];
    const double own = input_.options.overhead->own_ns[span.row];
    cost.total_with_recursion_ns += subtree;
    if (!span.is_nested) cost.total_ns += subtree;
    cost.self_ns += own;
    if (span.is_thread) cost.thread_self_ns += own;
  }

  const SummaryInput& input_;
  const SpanColumns spans_;
  const bool has_calls_;  // of which any has a formula
  const bool has_device_;
  const RecordingWindow window_;
  GroupRows groups_;
  CallFlops call_flops_;
  std::optional<StepCursor> steps_;  // if self times are divided by steps
  SummarySums sums_;
};

PartCounter::PartCounter(const SummaryInput& input) : visitor_(std::make_unique<Visitor>(input)) {
}

PartCounter::~PartCounter() = default;

SummaryPart PartCounter::Count(size_t first_row, size_t end_row) {
  return visitor_->Count(first_row, end_row);
}

}  // namespace opscope

// Distributes the measured overhead of recording over spans. The time between a span's own two clock reads is its own
// overhead; the time before and after them falls into its parent. Instants, counters and flows charge the innermost
// span around them. A forward pass assigns these parts, a backward pass sums subtrees, as a parent's row precedes its
// children's. The costs per event were calibrated during the recording (MeasuredOverheads).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/overhead.h"

#include <cstddef>
#include <string>

#include "analysis/span_measures.h"

namespace opscope {
namespace {

class CostMeter {
 public:
  CostMeter(const Trace& trace, const MeasuredOverheads& costs)
      : trace_(trace), costs_(costs), argument_lists_(trace), has_calls_(trace.python_calls().size() > 0) {
    result_.own_ns.assign(trace.spans().size(), 0);
  }

  SpanOverheads Measure() {
    const SpanColumns& spans = trace_.spans();
    for (size_t row = 0; row < spans.size(); ++row)
      AddSpan(row);
    AddPoints();
    result_.subtree_ns = result_.own_ns;
    for (size_t row = spans.size(); row-- > 0;)
      if (spans.parent[row] != SpanId::kNone) result_.subtree_ns[Row(spans.parent[row])] += result_.subtree_ns[row];
    return std::move(result_);
  }

 private:
  // Number of arguments by argument list. A nested list counts as one argument: torch boxes it as one value.
  class ArgumentCounts {
   public:
    explicit ArgumentCounts(const Trace& trace) : counts_(trace.argument_list_count()) {
      for (size_t list = 0; list < counts_.size(); ++list)
        counts_[list] = static_cast<double>(trace.arguments(ArgsId{static_cast<uint32_t>(list)}).size());
    }
    double Of(ArgsId list) const { return list == ArgsId::kNone ? 0 : counts_[Row(list)]; }

   private:
    std::vector<double> counts_;
  };

  // The overhead of recording this span; zero if its kind of event was not calibrated.
  EventCost CostOf(size_t row) {
    const SpanColumns& spans = trace_.spans();
    if (trace_.tracks().kind[Row(spans.track[row])] != TrackKind::kThread) return {};
    const SpanKind kind = spans.kind[row];
    const bool is_call = kind == SpanKind::kModule || kind == SpanKind::kPythonFunction || kind == SpanKind::kCFunction;
    if (has_calls_ && is_call) return costs_.of_call[static_cast<size_t>(kind)];
    if ((spans.flags[row] & span_flags::kNative) != 0) return costs_.scope.cost;
    // Spans of other frameworks have no scope. They cost nothing unless the framework calibrated its ranges; then they
    // are all ranges.
    if (spans.scope[row] == ScopeType::kUnknown) return costs_.op.source.empty() ? costs_.range.cost : EventCost{};
    if (spans.scope[row] == ScopeType::kUserScope) return costs_.range.cost;
    const double arguments = argument_lists_.Of(spans.args[row]);
    const EventCost &op = costs_.op.cost, &argument = costs_.op.argument;
    return {.begin_ns = op.begin_ns + arguments * argument.begin_ns,
            .end_ns = op.end_ns,
            .inside_ns = op.inside_ns + arguments * argument.inside_ns};
  }

  void AddSpan(size_t row) {
    const SpanColumns& spans = trace_.spans();
    EventCost cost = CostOf(row);
    if (cost.whole_ns() == 0) return;
    const bool is_async = (spans.flags[row] & span_flags::kAsync) != 0;
    if (is_async && (spans.flags[row] & span_flags::kNative) != 0) cost.end_ns = costs_.scope.async_end_ns;
    ++result_.events;
    result_.whole_ns += cost.whole_ns();
    result_.own_ns[row] += cost.inside_ns;
    if (is_async) {
      const uint32_t track = Row(spans.track[row]);
      Charge(track, spans.start[row], cost.begin_ns);
      // The track on which another thread ended the span is unknown.
      const bool ended_here = (spans.flags[row] & (span_flags::kOtherThread | span_flags::kUnfinished)) == 0;
      if (ended_here) Charge(track, spans.start[row] + spans.duration[row], cost.end_ns);
    } else if (spans.parent[row] != SpanId::kNone) {
      result_.own_ns[Row(spans.parent[row])] += cost.outside_ns();
    }
  }

  void AddPoints() {
    const InstantColumns& instants = trace_.instants();
    // Instants of a source, which are not calibrated.
    const std::optional<StringId> memory = trace_.FindString("[memory]"),
                                  no_memory = trace_.FindString("[OutOfMemory]");
    for (size_t i = 0; i < instants.size(); ++i) {
      const bool is_point = instants.name[i] != memory && instants.name[i] != no_memory;
      if (is_point) AddPoint(instants.track[i], instants.time[i]);
    }
    const CounterColumns& counters = trace_.counters();
    for (size_t i = 0; i < counters.size(); ++i)
      AddPoint(counters.track[i], counters.time[i]);
    const FlowColumns& flows = trace_.flows();
    const std::optional<StringId> recorded = trace_.FindString("flow");  // other flows are derived from spans
    for (size_t i = 0; i < flows.size(); ++i) {
      if (flows.category[i] != recorded) continue;
      // A start with several ends appears in adjacent rows; count it once.
      const bool same = i > 0 && flows.id[i] == flows.id[i - 1] && flows.start_time[i] == flows.start_time[i - 1];
      if (!same) AddPoint(flows.start_track[i], flows.start_time[i]);
      AddPoint(flows.end_track[i], flows.end_time[i]);
    }
  }

  void AddPoint(TrackId track, Timestamp time) {
    if (Row(track) >= trace_.tracks().size()) return;
    ++result_.events;
    result_.whole_ns += costs_.point.cost.whole_ns();
    Charge(Row(track), time, costs_.point.cost.whole_ns());
  }

  void Charge(uint32_t track, Timestamp time, double ns) {
    if (!innermost_) innermost_.emplace(trace_);
    const int64_t row = innermost_->At(track, time);
    if (row >= 0) result_.own_ns[static_cast<size_t>(row)] += ns;
  }

  const Trace& trace_;
  // The costs by kind of event; zero if not calibrated.
  struct Costs {
    explicit Costs(const MeasuredOverheads& all) {
      const auto copy = [](const OverheadRow* row) { return row == nullptr ? OverheadRow{} : *row; };
      scope = copy(all.Find(MeasuredOverheads::kProgram, SpanKind::kUserRange));
      point = copy(all.Find(MeasuredOverheads::kProgram, SpanKind::kOther));
      op = copy(all.FindOfFramework(SpanKind::kOperator));
      range = copy(all.FindOfFramework(SpanKind::kUserRange));
      for (size_t kind = 0; kind < kSpanKinds; ++kind)
        of_call[kind] = copy(all.Find(MeasuredOverheads::kPython, static_cast<SpanKind>(kind))).cost;
    }
    OverheadRow scope, point, op, range;
    EventCost of_call[kSpanKinds];
  };
  const Costs costs_;
  ArgumentCounts argument_lists_;
  const bool has_calls_;
  std::optional<InnermostSpans> innermost_;  // built on first use
  SpanOverheads result_;
};

// True for a recording with operators whose cost was not measured: its times would wrongly pass for corrected.
bool LacksFramework(const Trace& trace, const MeasuredOverheads& costs) {
  if (costs.FindOfFramework(SpanKind::kOperator) != nullptr) return false;
  const SpanColumns& spans = trace.spans();
  for (size_t row = 0; row < spans.size(); ++row)
    if (spans.scope[row] != ScopeType::kUnknown && (spans.flags[row] & span_flags::kNative) == 0) return true;
  return false;
}

// The same for Python calls: their cost cannot be measured while another profiler is active.
bool LacksCalls(const Trace& trace, const MeasuredOverheads& costs) {
  return costs.Find(MeasuredOverheads::kPython, SpanKind::kPythonFunction) == nullptr &&
         trace.python_calls().size() > 0;
}

}  // namespace

Result<SpanOverheads> MeasureOverhead(const Trace& trace) {
  const TraceInfo& info = trace.info();
  if (!info.overheads) {
    const std::string why = info.format == "opscope" ? "it was made by an opscope that did not measure it"
                                                     : "its format, " + info.format + ", has no place for it";
    return Error{ErrorCode::kUnsupported,
                 "no corrected times: the recording does not say what recording it cost; " + why};
  }
  if (LacksFramework(trace, *info.overheads)) {
    return Error{ErrorCode::kUnsupported,
                 "no corrected times: what an operator of torch costs could not be measured when this was recorded"};
  }
  if (LacksCalls(trace, *info.overheads)) {
    return Error{ErrorCode::kUnsupported,
                 "no corrected times: what a call of Python costs could not be measured when this was recorded"};
  }
  return CostMeter(trace, *info.overheads).Measure();
}

}  // namespace opscope

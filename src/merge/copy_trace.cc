// Copies the tables of a Trace into a builder, each row converted column by column.
// CopyRow (driven by the column descriptions) converts by type: a Timestamp through the clock map, a StringId, TrackId,
// StackId, ArgsId or SpanId through a table "old row -> new row". The code here states only the rest: ids that are
// shifted by a base, durations (end and start move separately under a drift), and the rows that are left out.
// Tables are copied in the order in which they refer to each other: tracks, stacks, arguments, spans, then everything
// that names spans. Unused stacks and argument lists are dropped, else a cut of ten spans would keep the strings of ten
// million.
// SPDX-License-Identifier: Apache-2.0
#include "merge/copy_trace.h"

#include <algorithm>
#include <span>
#include <type_traits>

#include "base/saturating.h"

namespace opscope {
namespace {

template <typename T>
T WithBase(T id, T base) {
  return id == 0 ? id : static_cast<T>(id + base);
}

}  // namespace

Timestamp TimeShift::operator()(Timestamp time) const {
  return {WrappingSubtract(map.ToReference(WrappingAdd(time.ns, own_epoch_ns)), epoch_ns)};
}

RowSelection::RowSelection(const Trace& trace, const std::vector<uint8_t>& spans)
    : spans_(&spans), tracks_(trace.tracks().size(), 0) {
  const SpanColumns& rows = trace.spans();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (spans[i] == 0) continue;
    first_ = std::min(first_, rows.start[i]);
    last_ = std::max(last_, rows.start[i] + rows.duration[i]);
    tracks_[Row(rows.track[i])] = 1;
  }
  const auto use = [&](TrackId track) {
    if (track != TrackId::kNone) tracks_[Row(track)] = 1;
  };
  for (size_t i = 0; i < trace.async_spans().size(); ++i) {
    if (HasRange(trace.async_spans().start[i], trace.async_spans().duration[i])) use(trace.async_spans().track[i]);
  }
  const auto use_moments = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      if (HasMoment(table.time[i])) use(table.track[i]);
    }
  };
  use_moments(trace.instants());
  use_moments(trace.counters());
  use_moments(trace.allocations());
  for (const TrackId track : trace.held_tensors().track)
    use(track);
  for (const TrackId track : trace.tensor_lives().track)
    use(track);
  for (size_t i = 0; i < trace.flows().size(); ++i) {
    if (HasFlow(trace.flows(), i)) use(trace.flows().start_track[i]), use(trace.flows().end_track[i]);
  }
}

bool RowSelection::HasFlow(const FlowColumns& flows, size_t row) const {
  const auto has_end = [&](SpanId span, Timestamp time) {
    return span == SpanId::kNone ? HasMoment(time) : HasSpan(span);
  };
  return has_end(flows.start_span[row], flows.start_time[row]) && has_end(flows.end_span[row], flows.end_time[row]);
}

size_t RowSelection::CountSpans(size_t all) const {
  return spans_ == nullptr ? all : static_cast<size_t>(std::count(spans_->begin(), spans_->end(), 1));
}

std::vector<uint16_t> RowSelection::DepthsOf(const Trace& trace) const {
  if (spans_ == nullptr) return {};
  const SpanColumns& rows = trace.spans();
  std::vector<uint16_t> depths(rows.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows.parent[i] == SpanId::kNone) continue;
    const uint32_t parent = Row(rows.parent[i]);  // a parent's row precedes its children's
    depths[i] = static_cast<uint16_t>(depths[parent] + (HasSpan(parent) ? 1 : 0));
  }
  return depths;
}

ProcessRow CopyProcess(const Trace& trace, size_t process, TraceBuilder* builder) {
  return CopyRow<ProcessDescription>(trace.processes(), process, [&]<typename T>(T value) {
    if constexpr (std::is_same_v<T, StringId>) {
      return value == StringId::kNone ? value : builder->Intern(trace.text(value));
    } else {
      return value;
    }
  });
}

TraceCopy::TraceCopy(const Trace& trace, const TimeShift& shift, const IdBases& bases, const RowSelection& kept,
                     TraceBuilder* builder)
    : trace_(trace),
      shift_(shift),
      bases_(bases),
      kept_(kept),
      builder_(*builder),
      strings_(trace.string_count(), StringId::kNone) {
}

void TraceCopy::CopyTables(const std::vector<ProcessId>& processes) {
  CopyTracks(processes);
  CopyStacks();
  CopyArguments();
  CopySpans();
  CopyRanges();
  CopyMoments();
  CopyFrameworkTables();
}

StringId TraceCopy::Text(StringId id) {
  if (id == StringId::kNone) return id;
  StringId& copy = strings_[Row(id)];
  if (copy == StringId::kNone) copy = builder_.Intern(trace_.text(id));
  return copy;
}

StringId TraceCopy::AsyncId(StringId id) {
  const auto renamed = bases_.async_ids.find(id);
  return renamed == bases_.async_ids.end() ? Text(id) : builder_.Intern(renamed->second);
}

void TraceCopy::CopyTracks(const std::vector<ProcessId>& processes) {
  const TrackColumns& rows = trace_.tracks();
  for (uint32_t i = 0; i < rows.size(); ++i) {
    if (!kept_.HasTrack(i)) {
      tracks_.push_back(TrackId::kNone);
      continue;
    }
    TrackRow row = Copied<TrackDescription>(rows, i);
    row.process = processes[Row(rows.process[i])];
    row.logical_thread = WithBase(row.logical_thread, bases_.logical_thread);
    tracks_.push_back(builder_.AddTrack(row));
    builder_.SetPreOrdered(tracks_.back());
  }
}

// A caller's row precedes its callees', so one pass from the end marks every stack that is used.
std::vector<uint8_t> TraceCopy::FindUsedStacks() const {
  const StackColumns& stacks = trace_.stacks();
  const SpanColumns& spans = trace_.spans();
  std::vector<uint8_t> used(stacks.size(), 0);
  for (size_t span = 0; span < spans.size(); ++span) {
    if (spans.stack[span] != StackId::kNone && kept_.HasSpan(span)) used[Row(spans.stack[span])] = 1;
  }
  const AllocationColumns& blocks = trace_.allocations();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks.stack[i] != StackId::kNone && kept_.HasMoment(blocks.time[i])) used[Row(blocks.stack[i])] = 1;
  }
  for (size_t i = stacks.size(); i-- > 0;) {
    if (used[i] != 0 && stacks.caller[i] != StackId::kNone) used[Row(stacks.caller[i])] = 1;
  }
  return used;
}

void TraceCopy::CopyStacks() {
  const StackColumns& rows = trace_.stacks();
  const std::vector<uint8_t> used = FindUsedStacks();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (used[i] == 0) {
      stacks_.push_back(StackId::kNone);
      continue;
    }
    const StringId text = Text(trace_.frames().text[Row(rows.frame[i])]);
    const StackId caller = rows.caller[i] == StackId::kNone ? StackId::kNone : stacks_[Row(rows.caller[i])];
    stacks_.push_back(builder_.AddStack(builder_.AddFrame(text), caller));
  }
}

void TraceCopy::CopyArguments() {
  std::vector<ArgumentRow> rows;
  std::vector<std::vector<ArgumentRow>> tensors;
  const SpanColumns& spans = trace_.spans();
  std::vector<uint8_t> used(trace_.argument_list_count(), 0);
  for (size_t span = 0; span < spans.size(); ++span) {
    if (spans.args[span] != ArgsId::kNone && kept_.HasSpan(span)) used[Row(spans.args[span])] = 1;
  }
  for (const ArgsId args : trace_.tensor_lives().args) {
    if (args != ArgsId::kNone) used[Row(args)] = 1;
  }
  for (size_t id = 0; id < used.size(); ++id) {
    if (used[id] == 0) {
      arguments_.push_back(ArgsId::kNone);
      continue;
    }
    const std::span<const Argument> list = trace_.arguments(static_cast<ArgsId>(id));
    rows.clear();
    tensors.assign(list.size(), {});
    for (size_t i = 0; i < list.size(); ++i) {
      for (const Argument& tensor : list[i].tensors)
        tensors[i].push_back(CopyArgument(tensor));
      rows.push_back(CopyArgument(list[i]));
      rows.back().tensors = tensors[i];
    }
    arguments_.push_back(builder_.AddArguments(rows));
  }
}

void TraceCopy::CopySpans() {
  const SpanColumns& rows = trace_.spans();
  const std::vector<uint16_t> depths = kept_.DepthsOf(trace_);
  const auto kind_of = [&](size_t i) {
    if (!trace_.has_explicit_kinds()) return kKindOfCategory;
    return rows.kind[i] == SpanKind::kOther ? kForcedOther : rows.kind[i];
  };
  spans_.assign(rows.size(), AddedSpan::kNone);
  builder_.ReserveSpans(kept_.CountSpans(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!kept_.HasSpan(i)) continue;
    SpanRow row = Copied<SpanDescription>(rows, i);
    row.duration = shift_(rows.start[i] + rows.duration[i]) - row.start;
    if (!depths.empty()) row.depth = depths[i];
    row.forward_thread = WithBase(row.forward_thread, bases_.logical_thread);
    row.correlation = WithBase(row.correlation, bases_.correlation);
    row.external_id = WithBase(row.external_id, bases_.external);
    row.kind = kind_of(i);
    spans_[i] = builder_.AddSpan(row);
  }
}

void TraceCopy::CopyRanges() {
  const AsyncSpanColumns& ranges = trace_.async_spans();
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (!kept_.HasRange(ranges.start[i], ranges.duration[i])) continue;
    AsyncSpanRow row = Copied<AsyncSpanDescription>(ranges, i);
    row.duration = shift_(ranges.start[i] + ranges.duration[i]) - row.start;
    row.id = AsyncId(ranges.id[i]);
    builder_.AddAsyncSpan(row);
  }
  const FlowColumns& flows = trace_.flows();
  for (size_t i = 0; i < flows.size(); ++i) {
    if (!kept_.HasFlow(flows, i)) continue;
    FlowRow row = Copied<FlowDescription>(flows, i);
    row.id += bases_.flow;
    builder_.AddFlow(row);
  }
  const StepColumns& steps = trace_.steps();
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.span[i] == SpanId::kNone || kept_.HasSpan(steps.span[i]))
      builder_.AddStep(steps.number[i], Text(steps.name[i]), Span(steps.span[i]));
  }
}

void TraceCopy::CopyMoments() {
  const auto copy = [&]<typename Description>(Description, const auto& columns, auto add) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (kept_.HasMoment(columns.time[i])) add(Copied<Description>(columns, i));
    }
  };
  copy(InstantDescription(), trace_.instants(), [&](const InstantRow& row) { builder_.AddInstant(row); });
  copy(CounterDescription(), trace_.counters(), [&](const CounterRow& row) { builder_.AddCounter(row); });
  copy(AllocationDescription(), trace_.allocations(), [&](const AllocationRow& row) { builder_.AddAllocation(row); });
}

// The tables of framework sources: Python calls, tensors, tensors of modules, tensor lifetimes.
void TraceCopy::CopyFrameworkTables() {
  const PythonCallColumns& calls = trace_.python_calls();
  std::vector<uint32_t> lost;  // ids of calls that are left out
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!kept_.HasSpan(calls.span[i])) lost.push_back(calls.id[i]);
  }
  std::sort(lost.begin(), lost.end());
  const auto caller_of = [&](size_t i) {
    return std::binary_search(lost.begin(), lost.end(), calls.caller[i]) ? 0 : calls.caller[i];
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!kept_.HasSpan(calls.span[i])) continue;
    PythonCallRow row = Copied<PythonCallDescription>(calls, i);
    row.id = WithBase(row.id, bases_.python_call);
    row.caller = WithBase(caller_of(i), bases_.python_call);
    builder_.AddPythonCall(row);
  }
  const TensorColumns& tensors = trace_.tensors();
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!kept_.HasSpan(tensors.span[i])) continue;
    TensorRow row = Copied<TensorDescription>(tensors, i);
    row.tensor = WithBase(row.tensor, bases_.tensor);
    builder_.AddTensor(row);
  }
  const ReferencedTensorColumns& held = trace_.held_tensors();
  for (size_t i = 0; i < held.size(); ++i) {
    ReferencedTensorRow row = Copied<ReferencedTensorDescription>(held, i);
    row.tensor = WithBase(row.tensor, bases_.tensor);
    builder_.AddHeldTensor(row);
  }
  const TensorLifeColumns& lives = trace_.tensor_lives();
  for (size_t i = 0; i < lives.size(); ++i) {
    TensorLifeRow row = Copied<TensorLifeDescription>(lives, i);
    row.tensor = WithBase(row.tensor, uint64_t{bases_.external});
    row.op = WithBase(row.op, uint64_t{bases_.external});
    builder_.AddTensorLife(row);
  }
}

ArgumentRow TraceCopy::CopyArgument(const Argument& argument) {
  return {.kind = argument.kind,
          .dtype = Text(argument.dtype),
          .value = Text(argument.value),
          .has_strides = argument.has_strides,
          .layout = argument.layout,
          .sizes = argument.sizes,
          .strides = argument.strides};
}

}  // namespace opscope

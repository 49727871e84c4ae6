// SPDX-License-Identifier: Apache-2.0
#include "merge/append_trace.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace opscope {
namespace {

constexpr int64_t kPidsPerRank = 10'000'000;  // more than Linux gives out (2^22)

template <typename T>
T MaxOf(std::span<const T> column) {
  return column.empty() ? T{} : *std::max_element(column.begin(), column.end());
}

template <typename T>
T Moved(T id, T base) {
  return id == 0 ? id : static_cast<T>(id + base);
}

// Where each row comes when they are sorted.
std::vector<int64_t> PlacesOf(std::span<const int64_t> sort_index) {
  std::vector<uint32_t> order(sort_index.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sort_index[a] < sort_index[b]; });
  std::vector<int64_t> places(order.size());
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = static_cast<int64_t>(place);
  return places;
}

}  // namespace

Timestamp TimeShift::operator()(Timestamp time) const {
  const auto unix = static_cast<int64_t>(static_cast<uint64_t>(time.ns) + static_cast<uint64_t>(own_epoch_ns));
  return {static_cast<int64_t>(static_cast<uint64_t>(map.ToReference(unix)) - static_cast<uint64_t>(epoch_ns))};
}

// One trace on its way in. Rows keep their order, so a row's number moves by what was there before.
class TraceAppender::Copy {
 public:
  Copy(const Trace& trace, const TimeShift& shift, const IdBases& bases, TraceBuilder* builder)
      : trace_(trace),
        shift_(shift),
        bases_(bases),
        builder_(*builder),
        strings_(trace.string_count(), StringId::kNone) {}

  StringId Text(StringId id) {
    if (id == StringId::kNone) return id;
    StringId& copy = strings_[Row(id)];
    if (copy == StringId::kNone) copy = builder_.Intern(trace_.text(id));
    return copy;
  }

  void Tracks(const std::vector<ProcessId>& processes) {
    const TrackColumns& rows = trace_.tracks();
    for (size_t i = 0; i < rows.size(); ++i) {
      tracks_.push_back(builder_.AddTrack({.process = processes[Row(rows.process[i])],
                                           .kind = rows.kind[i],
                                           .tid = rows.tid[i],
                                           .tid_text = Text(rows.tid_text[i]),
                                           .name = Text(rows.name[i]),
                                           .sort_index = rows.sort_index[i],
                                           .logical_thread = Moved(rows.logical_thread[i], bases_.logical_thread),
                                           .device = rows.device[i]}));
      builder_.SetPreOrdered(tracks_.back());
    }
  }

  void Stacks() {
    const StackColumns& rows = trace_.stacks();
    for (size_t i = 0; i < rows.size(); ++i) {
      const StringId text = Text(trace_.frames().text[Row(rows.frame[i])]);
      const StackId caller = rows.caller[i] == StackId::kNone ? StackId::kNone : stacks_[Row(rows.caller[i])];
      stacks_.push_back(builder_.AddStack(builder_.AddFrame(text), caller));
    }
  }

  void Arguments() {
    std::vector<ArgumentRow> rows;
    std::vector<std::vector<ArgumentRow>> tensors;
    for (size_t id = 0; id < trace_.argument_list_count(); ++id) {
      const std::span<const Argument> list = trace_.arguments(static_cast<ArgsId>(id));
      rows.clear();
      tensors.assign(list.size(), {});
      for (size_t i = 0; i < list.size(); ++i) {
        for (const Argument& tensor : list[i].tensors)
          tensors[i].push_back(CopyOf(tensor));
        rows.push_back(CopyOf(list[i]));
        rows.back().tensors = tensors[i];
      }
      arguments_.push_back(builder_.AddArguments(rows));
    }
  }

  void Spans() {
    const SpanColumns& rows = trace_.spans();
    first_span_ = static_cast<uint32_t>(builder_.span_count());
    builder_.ReserveSpans(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const Timestamp start = shift_(rows.start[i]);
      builder_.AddSpan({.start = start,
                        .duration = shift_(rows.start[i] + rows.duration[i]) - start,
                        .name = Text(rows.name[i]),
                        .overload = Text(rows.overload[i]),
                        .category = Text(rows.category[i]),
                        .track = tracks_[Row(rows.track[i])],
                        .depth = rows.depth[i],
                        .flags = rows.flags[i],
                        .scope = rows.scope[i],
                        .sequence = rows.sequence[i],
                        .forward_thread = Moved(rows.forward_thread[i], bases_.logical_thread),
                        .correlation = Moved(rows.correlation[i], bases_.correlation),
                        .external_id = Moved(rows.external_id[i], bases_.external),
                        .args = rows.args[i] == ArgsId::kNone ? ArgsId::kNone : arguments_[Row(rows.args[i])],
                        .stack = Stack(rows.stack[i]),
                        .extra = Text(rows.extra[i])});
    }
  }

  void Ranges() {
    const AsyncSpanColumns& ranges = trace_.async_spans();
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Timestamp start = shift_(ranges.start[i]);
      builder_.AddAsyncSpan({start, shift_(ranges.start[i] + ranges.duration[i]) - start, Text(ranges.name[i]),
                             Text(ranges.category[i]), Track(ranges.track[i]), Text(ranges.id[i]),
                             Text(ranges.extra[i])});
    }
    const FlowColumns& flows = trace_.flows();
    for (size_t i = 0; i < flows.size(); ++i) {
      builder_.AddFlow({flows.id[i] + bases_.flow, Text(flows.category[i]), Text(flows.name[i]),
                        shift_(flows.start_time[i]), Track(flows.start_track[i]), Span(flows.start_span[i]),
                        shift_(flows.end_time[i]), Track(flows.end_track[i]), Span(flows.end_span[i])});
    }
    const StepColumns& steps = trace_.steps();
    for (size_t i = 0; i < steps.size(); ++i)
      builder_.AddStep(steps.number[i], Text(steps.name[i]), Span(steps.span[i]));
  }

  void Moments() {
    const InstantColumns& instants = trace_.instants();
    for (size_t i = 0; i < instants.size(); ++i) {
      builder_.AddInstant({shift_(instants.time[i]), Text(instants.name[i]), Text(instants.category[i]),
                           Track(instants.track[i]), instants.scope[i], Text(instants.extra[i])});
    }
    const CounterColumns& counters = trace_.counters();
    for (size_t i = 0; i < counters.size(); ++i) {
      builder_.AddCounter({shift_(counters.time[i]), Text(counters.name[i]), Text(counters.series[i]),
                           Track(counters.track[i]), counters.value[i]});
    }
    const AllocationColumns& blocks = trace_.allocations();
    for (size_t i = 0; i < blocks.size(); ++i) {
      builder_.AddAllocation({shift_(blocks.time[i]), Track(blocks.track[i]), blocks.address[i], blocks.bytes[i],
                              blocks.total_allocated[i], blocks.total_reserved[i], blocks.device_type[i],
                              blocks.device[i], Stack(blocks.stack[i])});
    }
  }

  // What a framework's sources say beside the spans.
  void Calls() {
    const PythonCallColumns& calls = trace_.python_calls();
    for (size_t i = 0; i < calls.size(); ++i) {
      builder_.AddPythonCall({Span(calls.span[i]), Moved(calls.id[i], bases_.python_call),
                              Moved(calls.caller[i], bases_.python_call), calls.module_id[i], calls.thread[i]});
    }
    const TensorColumns& tensors = trace_.tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      builder_.AddTensor({Span(tensors.span[i]), Moved(tensors.tensor[i], bases_.tensor), tensors.storage[i],
                          tensors.device_type[i], tensors.device[i]});
    }
    const HeldTensorColumns& held = trace_.held_tensors();
    for (size_t i = 0; i < held.size(); ++i) {
      builder_.AddHeldTensor({shift_(held.time[i]), Track(held.track[i]), held.owner[i], held.held_as[i],
                              Moved(held.tensor[i], bases_.tensor), held.storage[i], held.device_type[i],
                              held.device[i], held.bytes[i]});
    }
  }

 private:
  ArgumentRow CopyOf(const Argument& argument) {
    return {.kind = argument.kind,
            .dtype = Text(argument.dtype),
            .value = Text(argument.value),
            .has_strides = argument.has_strides,
            .sizes = argument.sizes,
            .strides = argument.strides};
  }
  TrackId Track(TrackId track) const { return track == TrackId::kNone ? track : tracks_[Row(track)]; }
  AddedSpan Span(SpanId span) const {
    return span == SpanId::kNone ? AddedSpan::kNone : static_cast<AddedSpan>(Row(span) + first_span_);
  }

  StackId Stack(StackId id) const { return id == StackId::kNone ? id : stacks_[Row(id)]; }

  const Trace& trace_;
  const TimeShift& shift_;
  const IdBases& bases_;
  TraceBuilder& builder_;
  std::vector<StringId> strings_;  // kNone: not met yet
  std::vector<TrackId> tracks_;
  std::vector<StackId> stacks_;
  std::vector<ArgsId> arguments_;
  uint32_t first_span_ = 0;
};

TraceAppender::IdBases TraceAppender::TakeIds(const Trace& trace) {
  const IdBases bases = next_;
  const auto take = [&](auto* next, auto used) {
    using Id = decltype(used);
    if (*next > static_cast<Id>(~Id{0}) - used) ++shared_ids_;
    *next = static_cast<Id>(*next + used);
  };
  take(&next_.correlation, MaxOf(trace.spans().correlation));
  take(&next_.external, MaxOf(trace.spans().external_id));
  take(&next_.logical_thread, std::max(MaxOf(trace.tracks().logical_thread), MaxOf(trace.spans().forward_thread)));
  take(&next_.python_call, MaxOf(trace.python_calls().id));
  take(&next_.tensor, std::max(MaxOf(trace.tensors().tensor), MaxOf(trace.held_tensors().tensor)));
  take(&next_.flow, MaxOf(trace.flows().id) + 1);  // an id may be 0
  return bases;
}

int64_t TraceAppender::FreePid(int64_t pid, int32_t rank) {
  if (pids_.insert(pid).second) return pid;
  int64_t other = static_cast<int64_t>(static_cast<uint64_t>(pid) +
                                       static_cast<uint64_t>(std::max(rank, 0) + 1) * uint64_t{kPidsPerRank});
  while (!pids_.insert(other).second)
    other = static_cast<int64_t>(static_cast<uint64_t>(other) + 1);
  return other;
}

std::string TraceAppender::FreePidText(std::string_view text, int32_t rank) {
  std::string free(text);
  if (rank >= 0 && text_pids_.contains(free)) free += " of rank " + std::to_string(rank);
  for (int number = 2; !text_pids_.insert(free).second; ++number)
    free = std::string(text) + " " + std::to_string(number);
  return free;
}

ProcessRow TraceAppender::ProcessOf(const Trace& trace, size_t row, int32_t rank) {
  const ProcessColumns& rows = trace.processes();
  ProcessRow process{.pid = rows.pid[row], .rank = rank < 0 ? rows.rank[row] : rank};
  if (rows.name[row] != StringId::kNone) process.name = builder_->Intern(trace.text(rows.name[row]));
  if (rows.pid_text[row] != StringId::kNone) {
    process.pid_text = builder_->Intern(FreePidText(trace.text(rows.pid_text[row]), process.rank));
  } else {
    process.pid = FreePid(rows.pid[row], process.rank);
  }
  std::string labels(trace.text(rows.labels[row]));
  const auto add_label = [&](const std::string& label) {
    if (labels.find(label) == std::string::npos) labels = label + (labels.empty() ? "" : ", ") + labels;
  };
  if (process.pid != rows.pid[row]) add_label("pid " + std::to_string(rows.pid[row]));
  if (process.rank >= 0) add_label("rank " + std::to_string(process.rank));
  if (!labels.empty()) process.labels = builder_->Intern(labels);
  return process;
}

std::vector<MergedProcess> TraceAppender::Append(const Trace& trace, const TimeShift& shift, int32_t rank) {
  const IdBases bases = TakeIds(trace);
  Copy copy(trace, shift, bases, builder_);
  const std::vector<int64_t> places = PlacesOf(trace.processes().sort_index);
  std::vector<ProcessId> ids;
  std::vector<MergedProcess> processes;
  for (size_t row = 0; row < places.size(); ++row) {
    ProcessRow process = ProcessOf(trace, row, rank);
    process.sort_index = process_number_ + places[row];
    ids.push_back(builder_->AddProcess(process));
    if (process.pid_text == StringId::kNone) processes.push_back({process.pid, process.rank});
  }
  process_number_ += static_cast<int64_t>(places.size());
  copy.Tracks(ids);
  copy.Stacks();
  copy.Arguments();
  copy.Spans();
  copy.Ranges();
  copy.Moments();
  copy.Calls();
  AppendOperators(trace);
  return processes;
}

// Operators are the program's, not an input's: what an earlier input said is not said again.
void TraceAppender::AppendOperators(const Trace& trace) {
  const OperatorColumns& rows = trace.operators();
  std::set<std::pair<StringId, StringId>> all = operators_;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::pair row(builder_->Intern(trace.text(rows.name[i])), builder_->Intern(trace.text(rows.arguments[i])));
    if (!operators_.contains(row)) builder_->AddOperator(row.first, row.second);
    all.insert(row);
  }
  operators_ = std::move(all);
}

}  // namespace opscope

// The smaller tables of a Trace: one struct of columns per table, in the shape of the public views
// (include/opscope/trace.h).
//
// Thread rule: one thread at a time while they grow, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/column.h"
#include "opscope/trace.h"
#include "trace/builder.h"

namespace opscope {

struct ProcessTable {
  Column<int64_t> pid;
  Column<StringId> pid_text, name, labels;
  Column<int64_t> sort_index;
  Column<int32_t> rank;

  void Add(const ProcessRow& row) {
    pid.push_back(row.pid), pid_text.push_back(row.pid_text), name.push_back(row.name);
    labels.push_back(row.labels), sort_index.push_back(row.sort_index), rank.push_back(row.rank);
  }
  ProcessColumns view() const {
    return {pid.view(), pid_text.view(), name.view(), labels.view(), sort_index.view(), rank.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(pid), visit(pid_text), visit(name), visit(labels), visit(sort_index), visit(rank);
  }
};

struct TrackTable {
  Column<ProcessId> process;
  Column<TrackKind> kind;
  Column<int64_t> tid;
  Column<StringId> tid_text, name;
  Column<int64_t> sort_index;
  Column<uint64_t> logical_thread;
  Column<int32_t> device;
  Column<uint32_t> first_span, span_count;

  void Add(const TrackRow& row, uint32_t first, uint32_t count) {
    process.push_back(row.process), kind.push_back(row.kind), tid.push_back(row.tid);
    tid_text.push_back(row.tid_text), name.push_back(row.name), sort_index.push_back(row.sort_index);
    logical_thread.push_back(row.logical_thread), device.push_back(row.device);
    first_span.push_back(first), span_count.push_back(count);
  }
  TrackColumns view() const {
    return {process.view(),    kind.view(),           tid.view(),    tid_text.view(),   name.view(),
            sort_index.view(), logical_thread.view(), device.view(), first_span.view(), span_count.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(process), visit(kind), visit(tid), visit(tid_text), visit(name), visit(sort_index), visit(logical_thread),
        visit(device), visit(first_span), visit(span_count);
  }
};

struct LaunchTable {
  Column<SpanId> span, launcher;

  LaunchColumns view() const { return {span.view(), launcher.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(span), visit(launcher);
  }
};

struct AsyncSpanTable {
  Column<Timestamp> start;
  Column<Duration> duration;
  Column<StringId> name, category;
  Column<TrackId> track;
  Column<StringId> id, extra;

  void Add(const AsyncSpanRow& row) {
    start.push_back(row.start), duration.push_back(row.duration), name.push_back(row.name);
    category.push_back(row.category), track.push_back(row.track), id.push_back(row.id), extra.push_back(row.extra);
  }
  AsyncSpanColumns view() const {
    return {start.view(), duration.view(), name.view(), category.view(), track.view(), id.view(), extra.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(start), visit(duration), visit(name), visit(category), visit(track), visit(id), visit(extra);
  }
};

struct InstantTable {
  Column<Timestamp> time;
  Column<StringId> name, category;
  Column<TrackId> track;
  Column<uint8_t> scope;
  Column<StringId> extra;

  void Add(const InstantRow& row) {
    time.push_back(row.time), name.push_back(row.name), category.push_back(row.category);
    track.push_back(row.track), scope.push_back(row.scope), extra.push_back(row.extra);
  }
  InstantColumns view() const {
    return {time.view(), name.view(), category.view(), track.view(), scope.view(), extra.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(time), visit(name), visit(category), visit(track), visit(scope), visit(extra);
  }
};

struct CounterTable {
  Column<Timestamp> time;
  Column<StringId> name, series;
  Column<TrackId> track;
  Column<double> value;

  void Add(const CounterRow& row) {
    time.push_back(row.time), name.push_back(row.name), series.push_back(row.series);
    track.push_back(row.track), value.push_back(row.value);
  }
  CounterColumns view() const { return {time.view(), name.view(), series.view(), track.view(), value.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(time), visit(name), visit(series), visit(track), visit(value);
  }
};

struct FlowTable {
  Column<uint64_t> id;
  Column<StringId> category, name;
  Column<Timestamp> start_time;
  Column<TrackId> start_track;
  Column<SpanId> start_span;  // AddedSpan numbers until Build
  Column<Timestamp> end_time;
  Column<TrackId> end_track;
  Column<SpanId> end_span;

  void Add(const FlowRow& row) {
    id.push_back(row.id), category.push_back(row.category), name.push_back(row.name);
    start_time.push_back(row.start_time), start_track.push_back(row.start_track);
    start_span.push_back(static_cast<SpanId>(row.start_span));
    end_time.push_back(row.end_time), end_track.push_back(row.end_track);
    end_span.push_back(static_cast<SpanId>(row.end_span));
  }
  FlowColumns view() const {
    return {id.view(),         category.view(), name.view(),      start_time.view(), start_track.view(),
            start_span.view(), end_time.view(), end_track.view(), end_span.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(id), visit(category), visit(name), visit(start_time), visit(start_track), visit(start_span), visit(end_time),
        visit(end_track), visit(end_span);
  }
};

struct AllocationTable {
  Column<Timestamp> time;
  Column<TrackId> track;
  Column<uint64_t> address;
  Column<int64_t> bytes, total_allocated, total_reserved;
  Column<int32_t> device_type, device;
  Column<StackId> stack;

  void Add(const AllocationRow& row) {
    time.push_back(row.time), track.push_back(row.track), address.push_back(row.address), bytes.push_back(row.bytes);
    total_allocated.push_back(row.total_allocated), total_reserved.push_back(row.total_reserved);
    device_type.push_back(row.device_type), device.push_back(row.device), stack.push_back(row.stack);
  }
  AllocationColumns view() const {
    return {time.view(),           track.view(),       address.view(), bytes.view(), total_allocated.view(),
            total_reserved.view(), device_type.view(), device.view(),  stack.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(time), visit(track), visit(address), visit(bytes), visit(total_allocated), visit(total_reserved),
        visit(device_type), visit(device), visit(stack);
  }
};

struct TensorTable {
  Column<SpanId> span;  // AddedSpan numbers until Build
  Column<uint64_t> tensor, storage;
  Column<int32_t> device_type, device;

  void Add(const TensorRow& row) {
    span.push_back(static_cast<SpanId>(row.span)), tensor.push_back(row.tensor), storage.push_back(row.storage);
    device_type.push_back(row.device_type), device.push_back(row.device);
  }
  void OrderBySpan();  // stable; does nothing when they stand so
  TensorColumns view() const { return {span.view(), tensor.view(), storage.view(), device_type.view(), device.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(span), visit(tensor), visit(storage), visit(device_type), visit(device);
  }
};

struct HeldTensorTable {
  Column<Timestamp> time;
  Column<TrackId> track;
  Column<uint64_t> owner;
  Column<HeldAs> held_as;
  Column<uint64_t> tensor, storage;
  Column<int32_t> device_type, device;
  Column<int64_t> bytes;
  Column<StringId> name;

  void Add(const HeldTensorRow& row) {
    time.push_back(row.time), track.push_back(row.track), owner.push_back(row.owner), held_as.push_back(row.held_as);
    tensor.push_back(row.tensor), storage.push_back(row.storage), device_type.push_back(row.device_type);
    device.push_back(row.device), bytes.push_back(row.bytes), name.push_back(row.name);
  }
  HeldTensorColumns view() const {
    return {time.view(),    track.view(),       owner.view(),  held_as.view(), tensor.view(),
            storage.view(), device_type.view(), device.view(), bytes.view(),   name.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(time), visit(track), visit(owner), visit(held_as), visit(tensor), visit(storage), visit(device_type),
        visit(device), visit(bytes), visit(name);
  }
};

struct TensorLifeTable {
  Column<Timestamp> produced;
  Column<Duration> duration;
  Column<TrackId> track;
  Column<uint64_t> tensor, op, address, bytes;
  Column<uint32_t> uses;
  Column<ArgsId> args;
  Column<StringId> name;

  void Add(const TensorLifeRow& row) {
    produced.push_back(row.produced), duration.push_back(row.duration), track.push_back(row.track);
    tensor.push_back(row.tensor), op.push_back(row.op), address.push_back(row.address), bytes.push_back(row.bytes);
    uses.push_back(row.uses), args.push_back(row.args), name.push_back(row.name);
  }
  TensorLifeColumns view() const {
    return {produced.view(), duration.view(), track.view(), tensor.view(), op.view(),
            address.view(),  bytes.view(),    uses.view(),  args.view(),   name.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(produced), visit(duration), visit(track), visit(tensor), visit(op), visit(address), visit(bytes), visit(uses),
        visit(args), visit(name);
  }
};

struct OperatorTable {
  Column<StringId> name, arguments;

  OperatorColumns view() const { return {name.view(), arguments.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(name), visit(arguments);
  }
};

struct StepTable {
  Column<int64_t> number;
  Column<StringId> name;
  Column<SpanId> span;  // AddedSpan numbers until Build

  StepColumns view() const { return {number.view(), name.view(), span.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(number), visit(name), visit(span);
  }
};

struct PythonCallTable {
  Column<SpanId> span;  // AddedSpan numbers until Build
  Column<uint32_t> id, caller;
  Column<int32_t> module_id, thread;

  size_t size() const { return span.size(); }
  void Add(const PythonCallRow& row) {
    span.push_back(static_cast<SpanId>(row.span)), id.push_back(row.id), caller.push_back(row.caller);
    module_id.push_back(row.module_id), thread.push_back(row.thread);
  }
  PythonCallColumns view() const { return {span.view(), id.view(), caller.view(), module_id.view(), thread.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(span), visit(id), visit(caller), visit(module_id), visit(thread);
  }
};

struct ProblemTable {
  Column<StringId> kind;
  Column<uint8_t> severity;
  Column<uint64_t> count;
  Column<int64_t> first_offset;
  Column<StringId> message;

  ProblemColumns view() const {
    return {kind.view(), severity.view(), count.view(), first_offset.view(), message.view()};
  }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(kind), visit(severity), visit(count), visit(first_offset), visit(message);
  }
};

struct MetadataTable {
  Column<StringId> key, json;

  MetadataColumns view() const { return {key.view(), json.view()}; }
  template <typename Visit>
  void ForEach(Visit visit) {
    visit(key), visit(json);
  }
};

}  // namespace opscope

// Async spans, instants, counters, allocations, flows, steps and calls of Python of column files.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <span>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_rows.h"
#include "wire/schema.h"

namespace opscope {

namespace {

Timestamp TimeInSpan(uint64_t stored_time, AddedSpan span, std::span<const Timestamp> starts) {
  const Timestamp time{Signed(stored_time)};
  return span == AddedSpan::kNone ? time : starts[static_cast<size_t>(span)] + Duration{time.ns};
}

}  // namespace

bool AddFlows(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::flow::kId);
  const ColumnValues id = reader.Read(wire::flow::kId, 0);
  const ColumnValues category = reader.Read(wire::flow::kCategory, wire::kNoId);
  const ColumnValues name = reader.Read(wire::flow::kName, wire::kNoId);
  const ColumnValues start_time = reader.Read(wire::flow::kStartTime, 0);
  const ColumnValues start_track = reader.Read(wire::flow::kStartTrack, wire::kNoId);
  const ColumnValues start_span = reader.Read(wire::flow::kStartSpan, wire::kNoId);
  const ColumnValues end_time = reader.Read(wire::flow::kEndTime, 0);
  const ColumnValues end_track = reader.Read(wire::flow::kEndTrack, wire::kNoId);
  const ColumnValues end_span = reader.Read(wire::flow::kEndSpan, wire::kNoId);
  if (!reader.ok()) return false;
  const std::span<const Timestamp> starts = builder->added_spans().start;
  uint64_t lost = 0;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan from = ids->Span(start_span[i]), to = ids->Span(end_span[i]);
    if ((start_span[i] != wire::kNoId && from == AddedSpan::kNone) ||
        (end_span[i] != wire::kNoId && to == AddedSpan::kNone)) {
      ++lost;
      continue;
    }
    builder->AddFlow({.id = id[i],
                      .category = ids->String(category[i]),
                      .name = ids->String(name[i]),
                      .start_time = TimeInSpan(start_time[i], from, starts),
                      .start_track = ids->Track(start_track[i]),
                      .start_span = from,
                      .end_time = TimeInSpan(end_time[i], to, starts),
                      .end_track = ids->Track(end_track[i]),
                      .end_span = to});
  }
  if (lost > 0) builder->AddProblem("unpaired_flow", -1, lost);
  return true;
}

bool AddSteps(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::step::kNumber);
  const ColumnValues number = reader.Read(wire::step::kNumber, 0);
  const ColumnValues name = reader.Read(wire::step::kName, wire::kNoId);
  const ColumnValues span = reader.Read(wire::step::kSpan, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddStep(Signed(number[i]), ids->String(name[i]), ids->Span(span[i]));
  }
  return true;
}

bool AddPythonCalls(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::python_call::kSpan);
  const ColumnValues span = reader.Read(wire::python_call::kSpan, wire::kNoId);
  const ColumnValues id = reader.Read(wire::python_call::kId, 0);
  const ColumnValues caller = reader.Read(wire::python_call::kCaller, 0);
  const ColumnValues module_id = reader.Read(wire::python_call::kModuleId, wire::kMinusOne);
  const ColumnValues thread = reader.Read(wire::python_call::kThread, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan at = ids->Span(span[i]);
    if (at == AddedSpan::kNone) continue;  // it was in a block that is lost
    builder->AddPythonCall({.span = at,
                            .id = static_cast<uint32_t>(id[i]),
                            .caller = static_cast<uint32_t>(caller[i]),
                            .module_id = static_cast<int32_t>(module_id[i]),
                            .thread = static_cast<int32_t>(thread[i])});
  }
  return true;
}

bool AddAsyncSpans(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::async_span::kStart);
  const ColumnValues start = reader.Read(wire::async_span::kStart, 0);
  const ColumnValues duration = reader.Read(wire::async_span::kDuration, 0);
  const ColumnValues name = reader.Read(wire::async_span::kName, wire::kNoId);
  const ColumnValues category = reader.Read(wire::async_span::kCategory, wire::kNoId);
  const ColumnValues track = reader.Read(wire::async_span::kTrack, wire::kNoId);
  const ColumnValues id = reader.Read(wire::async_span::kId, wire::kNoId);
  const ColumnValues extra = reader.Read(wire::async_span::kExtra, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddAsyncSpan({.start = {Signed(start[i])},
                           .duration = {Signed(duration[i])},
                           .name = ids->String(name[i]),
                           .category = ids->String(category[i]),
                           .track = ids->Track(track[i]),
                           .id = ids->String(id[i]),
                           .extra = ids->String(extra[i])});
  }
  return true;
}

bool AddInstants(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::instant::kTime);
  const ColumnValues time = reader.Read(wire::instant::kTime, 0);
  const ColumnValues name = reader.Read(wire::instant::kName, wire::kNoId);
  const ColumnValues category = reader.Read(wire::instant::kCategory, wire::kNoId);
  const ColumnValues track = reader.Read(wire::instant::kTrack, wire::kNoId);
  const ColumnValues scope = reader.Read(wire::instant::kScope, 't');
  const ColumnValues extra = reader.Read(wire::instant::kExtra, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddInstant({.time = {Signed(time[i])},
                         .name = ids->String(name[i]),
                         .category = ids->String(category[i]),
                         .track = ids->Track(track[i]),
                         .scope = static_cast<uint8_t>(scope[i]),
                         .extra = ids->String(extra[i])});
  }
  return true;
}

bool AddCounters(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::counter::kTime);
  const ColumnValues time = reader.Read(wire::counter::kTime, 0);
  const ColumnValues name = reader.Read(wire::counter::kName, wire::kNoId);
  const ColumnValues series = reader.Read(wire::counter::kSeries, wire::kNoId);
  const ColumnValues track = reader.Read(wire::counter::kTrack, wire::kNoId);
  const ColumnValues value = reader.Read(wire::counter::kValue, 0);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddCounter({.time = {Signed(time[i])},
                         .name = ids->String(name[i]),
                         .series = ids->String(series[i]),
                         .track = ids->Track(track[i]),
                         .value = std::bit_cast<double>(value[i])});
  }
  return true;
}

bool AddAllocations(const TableBlock& block, ColumnIds* ids, TraceBuilder* builder) {
  ColumnReader reader(block, wire::allocation::kTime);
  const ColumnValues time = reader.Read(wire::allocation::kTime, 0);
  const ColumnValues track = reader.Read(wire::allocation::kTrack, wire::kNoId);
  const ColumnValues address = reader.Read(wire::allocation::kAddress, 0);
  const ColumnValues bytes = reader.Read(wire::allocation::kBytes, 0);
  const ColumnValues allocated = reader.Read(wire::allocation::kTotalAllocated, wire::kMinusOne);
  const ColumnValues reserved = reader.Read(wire::allocation::kTotalReserved, wire::kMinusOne);
  const ColumnValues device_type = reader.Read(wire::allocation::kDeviceType, 0);
  const ColumnValues device = reader.Read(wire::allocation::kDevice, wire::kMinusOne);
  const ColumnValues stack = reader.Read(wire::allocation::kStack, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder->AddAllocation({.time = {Signed(time[i])},
                            .track = ids->Track(track[i]),
                            .address = address[i],
                            .bytes = Signed(bytes[i]),
                            .total_allocated = Signed(allocated[i]),
                            .total_reserved = Signed(reserved[i]),
                            .device_type = static_cast<int32_t>(device_type[i]),
                            .device = static_cast<int32_t>(device[i]),
                            .stack = ids->Stack(stack[i])});
  }
  return true;
}

}  // namespace opscope

// Async spans, instants, counters, allocations, flows and steps of column files.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include "import/opscope/column_tables.h"
#include "import/opscope/column_tables_reader.h"
#include "wire/schema.h"

namespace opscope {

// One run is left of a file whose spans stand here as they stand there.
void ColumnTables::SortRuns() {
  std::sort(spans_.begin(), spans_.end(), [](const SpanRun& a, const SpanRun& b) { return a.file_row < b.file_row; });
  std::vector<SpanRun> joined;
  for (const SpanRun& run : spans_) {
    const bool goes_on = !joined.empty() && joined.back().file_row + joined.back().rows == run.file_row &&
                         joined.back().added + joined.back().rows == run.added;
    if (goes_on) {
      joined.back().rows += run.rows;
    } else {
      joined.push_back(run);
    }
  }
  spans_ = std::move(joined);
  runs_sorted_ = true;
}

AddedSpan ColumnTables::Span(uint64_t stored) {
  if (stored == wire::kNoId) return AddedSpan::kNone;
  const uint64_t row = stored - 1;
  if (!runs_sorted_) {
    SortRuns();
  }
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), row,
                                      [](uint64_t r, const SpanRun& run) { return r < run.file_row; });
  if (after == spans_.begin()) return AddedSpan::kNone;
  const SpanRun& run = *(after - 1);
  if (row - run.file_row >= run.rows) return AddedSpan::kNone;
  return static_cast<AddedSpan>(run.added + static_cast<uint32_t>(row - run.file_row));
}

namespace {

Timestamp TimeInSpan(uint64_t stored_time, AddedSpan span, std::span<const Timestamp> starts) {
  const Timestamp time{Signed(stored_time)};
  return span == AddedSpan::kNone ? time : starts[static_cast<size_t>(span)] + Duration{time.ns};
}

}  // namespace

bool ColumnTables::AddFlows(const TableBlock& block) {
  Reader reader(block, wire::flow::kId);
  const Values id = reader.Read(wire::flow::kId, 0);
  const Values category = reader.Read(wire::flow::kCategory, wire::kNoId);
  const Values name = reader.Read(wire::flow::kName, wire::kNoId);
  const Values start_time = reader.Read(wire::flow::kStartTime, 0);
  const Values start_track = reader.Read(wire::flow::kStartTrack, wire::kNoId);
  const Values start_span = reader.Read(wire::flow::kStartSpan, wire::kNoId);
  const Values end_time = reader.Read(wire::flow::kEndTime, 0);
  const Values end_track = reader.Read(wire::flow::kEndTrack, wire::kNoId);
  const Values end_span = reader.Read(wire::flow::kEndSpan, wire::kNoId);
  if (!reader.ok()) return false;
  const std::span<const Timestamp> starts = builder_->added_spans().start;
  uint64_t lost = 0;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan from = Span(start_span[i]), to = Span(end_span[i]);
    if ((start_span[i] != wire::kNoId && from == AddedSpan::kNone) ||
        (end_span[i] != wire::kNoId && to == AddedSpan::kNone)) {
      ++lost;
      continue;
    }
    builder_->AddFlow({.id = id[i],
                       .category = String(category[i]),
                       .name = String(name[i]),
                       .start_time = TimeInSpan(start_time[i], from, starts),
                       .start_track = Track(start_track[i]),
                       .start_span = from,
                       .end_time = TimeInSpan(end_time[i], to, starts),
                       .end_track = Track(end_track[i]),
                       .end_span = to});
  }
  if (lost > 0) builder_->AddProblem("unpaired_flow", -1, lost);
  return true;
}

bool ColumnTables::AddSteps(const TableBlock& block) {
  Reader reader(block, wire::step::kNumber);
  const Values number = reader.Read(wire::step::kNumber, 0);
  const Values name = reader.Read(wire::step::kName, wire::kNoId);
  const Values span = reader.Read(wire::step::kSpan, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddStep(Signed(number[i]), String(name[i]), Span(span[i]));
  }
  return true;
}

bool ColumnTables::AddPythonCalls(const TableBlock& block) {
  Reader reader(block, wire::python_call::kSpan);
  const Values span = reader.Read(wire::python_call::kSpan, wire::kNoId);
  const Values id = reader.Read(wire::python_call::kId, 0);
  const Values caller = reader.Read(wire::python_call::kCaller, 0);
  const Values module_id = reader.Read(wire::python_call::kModuleId, wire::kMinusOne);
  const Values thread = reader.Read(wire::python_call::kThread, wire::kMinusOne);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    const AddedSpan at = Span(span[i]);
    if (at == AddedSpan::kNone) continue;  // it was in a block that is lost
    builder_->AddPythonCall({.span = at,
                             .id = static_cast<uint32_t>(id[i]),
                             .caller = static_cast<uint32_t>(caller[i]),
                             .module_id = static_cast<int32_t>(module_id[i]),
                             .thread = static_cast<int32_t>(thread[i])});
  }
  return true;
}

bool ColumnTables::AddAsyncSpans(const TableBlock& block) {
  Reader reader(block, wire::async_span::kStart);
  const Values start = reader.Read(wire::async_span::kStart, 0);
  const Values duration = reader.Read(wire::async_span::kDuration, 0);
  const Values name = reader.Read(wire::async_span::kName, wire::kNoId);
  const Values category = reader.Read(wire::async_span::kCategory, wire::kNoId);
  const Values track = reader.Read(wire::async_span::kTrack, wire::kNoId);
  const Values id = reader.Read(wire::async_span::kId, wire::kNoId);
  const Values extra = reader.Read(wire::async_span::kExtra, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddAsyncSpan({.start = {Signed(start[i])},
                            .duration = {Signed(duration[i])},
                            .name = String(name[i]),
                            .category = String(category[i]),
                            .track = Track(track[i]),
                            .id = String(id[i]),
                            .extra = String(extra[i])});
  }
  return true;
}

bool ColumnTables::AddInstants(const TableBlock& block) {
  Reader reader(block, wire::instant::kTime);
  const Values time = reader.Read(wire::instant::kTime, 0);
  const Values name = reader.Read(wire::instant::kName, wire::kNoId);
  const Values category = reader.Read(wire::instant::kCategory, wire::kNoId);
  const Values track = reader.Read(wire::instant::kTrack, wire::kNoId);
  const Values scope = reader.Read(wire::instant::kScope, 't');
  const Values extra = reader.Read(wire::instant::kExtra, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddInstant({.time = {Signed(time[i])},
                          .name = String(name[i]),
                          .category = String(category[i]),
                          .track = Track(track[i]),
                          .scope = static_cast<uint8_t>(scope[i]),
                          .extra = String(extra[i])});
  }
  return true;
}

bool ColumnTables::AddCounters(const TableBlock& block) {
  Reader reader(block, wire::counter::kTime);
  const Values time = reader.Read(wire::counter::kTime, 0);
  const Values name = reader.Read(wire::counter::kName, wire::kNoId);
  const Values series = reader.Read(wire::counter::kSeries, wire::kNoId);
  const Values track = reader.Read(wire::counter::kTrack, wire::kNoId);
  const Values value = reader.Read(wire::counter::kValue, 0);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddCounter({.time = {Signed(time[i])},
                          .name = String(name[i]),
                          .series = String(series[i]),
                          .track = Track(track[i]),
                          .value = std::bit_cast<double>(value[i])});
  }
  return true;
}

bool ColumnTables::AddAllocations(const TableBlock& block) {
  Reader reader(block, wire::allocation::kTime);
  const Values time = reader.Read(wire::allocation::kTime, 0);
  const Values track = reader.Read(wire::allocation::kTrack, wire::kNoId);
  const Values address = reader.Read(wire::allocation::kAddress, 0);
  const Values bytes = reader.Read(wire::allocation::kBytes, 0);
  const Values allocated = reader.Read(wire::allocation::kTotalAllocated, wire::kMinusOne);
  const Values reserved = reader.Read(wire::allocation::kTotalReserved, wire::kMinusOne);
  const Values device_type = reader.Read(wire::allocation::kDeviceType, 0);
  const Values device = reader.Read(wire::allocation::kDevice, wire::kMinusOne);
  const Values stack = reader.Read(wire::allocation::kStack, wire::kNoId);
  if (!reader.ok()) return false;
  for (size_t i = 0; i < reader.rows(); ++i) {
    builder_->AddAllocation({.time = {Signed(time[i])},
                             .track = Track(track[i]),
                             .address = address[i],
                             .bytes = Signed(bytes[i]),
                             .total_allocated = Signed(allocated[i]),
                             .total_reserved = Signed(reserved[i]),
                             .device_type = static_cast<int32_t>(device_type[i]),
                             .device = static_cast<int32_t>(device[i]),
                             .stack = stack[i] - 1 < stacks_.size() ? stacks_[stack[i] - 1] : StackId::kNone});
  }
  return true;
}

}  // namespace opscope

// Writes Perfetto's protobuf trace: TrackEvents on tracks of processes, threads, streams and counters.
//
// Spans of a track are written as nested begins and ends, since readers pair them by their order. Spans that do not
// nest get rows of their own (span_lanes.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "export/perfetto_events.h"
#include "export/perfetto_head.h"
#include "export/row_blocks.h"
#include "export/writers.h"

namespace opscope {
namespace {

// The lists of rows (RowBlock::list): four of the trace, then one per lane of spans.
struct Lists {
  enum : size_t { kAsyncLanes, kAllocations, kInstants, kCounters, kFirstLane };
};

std::vector<RowBlock> CutRows(const Trace& trace, const PerfettoPlan& plan) {
  std::vector<RowBlock> blocks;
  const auto append = [&](size_t list, size_t begin, size_t end) {
    AppendRowBlocks(list, begin, end, kRowsPerBlock, &blocks);
  };
  const std::vector<Lane>& lanes = plan.lanes().lanes();
  for (size_t i = 0; i < lanes.size(); ++i)
    append(Lists::kFirstLane + i, lanes[i].begin, lanes[i].end);
  append(Lists::kAsyncLanes, 0, plan.async_lanes().size());
  append(Lists::kAllocations, 0, trace.allocations().size());
  append(Lists::kInstants, 0, plan.instants().others().size());
  append(Lists::kCounters, 0, trace.counters().size());
  return blocks;
}

void WriteRows(const PerfettoPlan& plan, const PerfettoEvents& events, const RowBlock& block, std::string* out) {
  if (block.list >= Lists::kFirstLane)
    return events.WriteSpans(block.list - Lists::kFirstLane, block.begin, block.end, out);
  for (size_t i = block.begin; i < block.end; ++i) {
    switch (block.list) {
      case Lists::kAsyncLanes:
        events.WriteAsyncLane(i, out);
        break;
      case Lists::kAllocations:
        events.WriteAllocation(i, out);
        break;
      case Lists::kInstants:
        events.WriteInstant(plan.instants().others()[i], out);
        break;
      case Lists::kCounters:
        events.WriteCounter(i, out);
        break;
    }
  }
}

uint64_t CountFar(std::span<const Timestamp> times, const ExportTimes& held) {
  return static_cast<uint64_t>(
      std::count_if(times.begin(), times.end(), [&](Timestamp time) { return !held.Holds(time); }));
}

void CountLeftOut(const Trace& trace, const PerfettoPlan& plan, ExportOutput* out) {
  uint64_t async = 0;
  for (const AsyncLane& lane : plan.async_lanes())
    async += lane.rows.size();
  uint64_t far_instants = CountFar(trace.allocations().time, plan.times());
  for (const uint32_t row : plan.instants().others())
    far_instants += plan.times().Holds(trace.instants().time[row]) ? 0 : 1;
  out->SetCrossing(plan.lanes().crossing_spans());
  out->CountOmitted("spans, too far away in time", plan.lanes().far_spans() + trace.async_spans().size() - async);
  out->CountOmitted("instants, too far away in time", far_instants);
  out->CountOmitted("counter samples, too far away in time", CountFar(trace.counters().time, plan.times()));
  out->CountOmitted("flows without a span at either end", plan.flows_without_span());
  out->CountOmitted("flows back in time", plan.flows_back_in_time());
  out->CountOmitted("entries of metadata", trace.metadata().size());
  out->CountOmitted("tensors of arguments", trace.tensors().size());
  out->CountOmitted("held tensors", trace.held_tensors().size());
  out->CountOmitted("lives of tensors", trace.tensor_lives().size());
  out->CountOmitted("operator schemas", trace.operators().size());
}

}  // namespace

void WritePerfetto(const Trace& trace, const ExportOptions&, ExportOutput* out) {
  const PerfettoPlan plan(trace);
  const PerfettoEvents events(trace, plan);
  const std::vector<RowBlock> blocks = CutRows(trace, plan);
  WritePerfettoHead(trace, plan, out);
  out->WriteBlocks<std::string>(blocks.size(),
                                [&](size_t i, std::string* text) { WriteRows(plan, events, blocks[i], text); });
  CountLeftOut(trace, plan, out);
}

}  // namespace opscope

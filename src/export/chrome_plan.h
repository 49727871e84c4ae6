// What is written in which order, decided before any text is made, so that blocks of events can be
// formatted by several threads. The order depends on the contents of the Trace alone and not on the
// numbers of its rows, so that a trace that was exported, imported and exported again gives the same
// bytes:
//
//   processes by id, tracks by id; their spans by start, longer first, each followed by the ends of the
//   flows that it carries; "[memory]" instants; other instants; counters; async spans; other flow ends;
//   what Kineto ends a file with: the spans of the process "Spans", its place among the processes, the
//   instants "Iteration Start: ..." and "Record Window End"
//
// A Trace of a recording also gets what Kineto writes around its events: the "Trace" span and these
// instants, names and order of processes and threads, event numbers.
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "export/chrome_lanes.h"
#include "opscope/analysis/memory_instants.h"
#include "opscope/torch/out_of_memory.h"
#include "opscope/trace.h"

namespace opscope {

enum class ChromeSection : uint8_t {
  kSpans,
  kAllocations,
  kInstants,
  kCounters,
  kAsyncSpans,
  kFlows,
  kTraceSpan,
  kSpansOrder,
  kWindowInstants
};

struct ChromeBlock {
  ChromeSection section;
  size_t begin, end;  // of the section's rows
};

// One end of a flow: row `flow`, where it leaves (s) or arrives (f).
struct ChromeFlowEnd {
  uint32_t span;  // its place in ChromePlan::spans(), UINT32_MAX: none
  uint32_t flow;
  bool arrives;
};

class ChromePlan {
 public:
  ChromePlan(const Trace& trace, size_t rows_per_block);

  bool recorded() const { return recorded_; }
  bool writes_window() const { return writes_window_; }  // the "Trace" span and the two instants
  Timestamp first_time() const { return first_; }
  Timestamp last_time() const { return last_; }
  const std::vector<ChromeBlock>& blocks() const { return blocks_; }
  const std::vector<TrackId>& tracks() const { return tracks_; }              // in order, those with rows
  const std::vector<uint32_t>& spans() const { return spans_; }               // rows in order
  const ChromeLanes& lanes() const { return lanes_; }                         // of spans that cross others
  const std::vector<uint32_t>& instants() const { return instants_; }         // rows in order, without memory
  const std::vector<ChromeFlowEnd>& flow_ends() const { return flow_ends_; }  // by place of their span
  size_t first_free_flow_end() const { return free_flow_ends_; }
  // The instant that stands for allocation `row`, which may hold extra members; or UINT32_MAX.
  uint32_t memory_instant(size_t row) const { return memory_instants_.OfAllocation(row); }
  // Its place among the instants of the recorded requests without memory, which are numbered behind the allocations.
  std::optional<size_t> out_of_memory(uint32_t instant) const;
  // Where viewers put the process "Spans" among the others, if that is to be said.
  std::optional<int64_t> spans_order() const { return spans_order_; }
  static bool IsSpansProcess(const Trace& trace, ProcessId process);
  // Same process and thread id: one row of a viewer, whatever the tracks are.
  static bool SameRow(const Trace& trace, TrackId a, TrackId b);

 private:
  void FindRecorded(const Trace& trace);
  void FindTimes(const Trace& trace);
  void OrderTracks(const Trace& trace);
  void OrderSpans(const Trace& trace);
  void OrderInstants(const Trace& trace);
  void OrderFlows(const Trace& trace);
  void CutBlocks(const Trace& trace, size_t rows_per_block);

  bool recorded_ = false;
  bool writes_window_ = false;
  Timestamp first_, last_;
  std::vector<ChromeBlock> blocks_;
  std::vector<TrackId> tracks_;
  std::vector<uint32_t> spans_, instants_;
  ChromeLanes lanes_;
  size_t last_spans_ = 0, last_instants_ = 0;  // from these places on they stand at the end of the file
  std::optional<int64_t> spans_order_;
  MemoryInstants memory_instants_;
  std::vector<OutOfMemory> out_of_memory_;  // of recordings
  std::vector<ChromeFlowEnd> flow_ends_;
  size_t free_flow_ends_ = 0;
};

}  // namespace opscope

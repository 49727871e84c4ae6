// Fixes the order of all events before any text is made, so that several threads can format blocks of them. The order
// depends only on the contents of the Trace, not on its row numbers: a trace that is exported, imported and exported
// again gives the same bytes.
//
//   processes by id, tracks by id; their spans by start, longer first, each followed by the ends of its flows;
//   "[memory]" instants; other instants; counters; async spans; other flow ends;
//   Kineto's end of file: the spans of the process "Spans", its sort index, the instants "Iteration Start: ..." and
//   "Record Window End"
//
// A Trace of a recording also gets the events that Kineto adds: the "Trace" span and these instants, names and order of
// processes and threads, event numbers.
//
// Construction costs O(rows), plus sorting where rows are out of order.
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

// One end of the flow in row `flow`: its start ("s") or its arrival ("f").
struct ChromeFlowEnd {
  uint32_t span;  // index into ChromePlan::spans(); UINT32_MAX: no span
  uint32_t flow;
  bool arrives;
};

class ChromePlan {
 public:
  ChromePlan(const Trace& trace, size_t rows_per_block);

  bool recorded() const { return recorded_; }
  Timestamp first_time() const { return first_; }
  Timestamp last_time() const { return last_; }
  const std::vector<ChromeBlock>& blocks() const { return blocks_; }
  const std::vector<TrackId>& tracks() const { return tracks_; }              // in order, those with rows
  const std::vector<uint32_t>& spans() const { return spans_; }               // rows in order
  const ChromeLanes& lanes() const { return lanes_; }                         // of spans that cross others
  const std::vector<uint32_t>& instants() const { return instants_; }         // rows in order, without memory
  const std::vector<ChromeFlowEnd>& flow_ends() const { return flow_ends_; }  // by place of their span
  // The row of `instants` with the extra members of allocation `row`; UINT32_MAX if it has no extra members.
  uint32_t memory_instant(size_t row) const { return memory_instants_.OfAllocation(row); }
  // Index of `instant` among the out-of-memory requests of a recording; their event numbers follow the allocations'.
  std::optional<size_t> out_of_memory(uint32_t instant) const;
  // Sort index of the process "Spans", if it is to be written.
  std::optional<int64_t> spans_order() const { return spans_order_; }
  static bool IsSpansProcess(const Trace& trace, ProcessId process);
  // True if both tracks have the same process and thread id, so that a viewer shows them as one row.
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
  bool writes_window_ = false;  // the "Trace" span and the two instants
  Timestamp first_, last_;
  std::vector<ChromeBlock> blocks_;
  std::vector<TrackId> tracks_;
  std::vector<uint32_t> spans_, instants_;
  ChromeLanes lanes_;
  size_t last_spans_ = 0, last_instants_ = 0;  // rows from these indexes on are written at the end of the file
  std::optional<int64_t> spans_order_;
  MemoryInstants memory_instants_;
  std::vector<OutOfMemory> out_of_memory_;  // from recordings
  std::vector<ChromeFlowEnd> flow_ends_;
  size_t free_flow_ends_ = 0;
};

}  // namespace opscope

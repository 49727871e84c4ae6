// The host side of the graph of a critical path: lanes, which are threads that flows of autograd connect, and the
// weight of their pieces. docs/reference/critical_path.md, "Lanes", has the rules.
//
// The nodes of a lane lie on one line, so the lane needs no edges: the weight between two of its moments is a
// difference of two lengths (WeightUntil). LanePieces finds the pieces again for the lanes that the path runs along.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/host_spans.h"
#include "analysis/intervals.h"
#include "opscope/analysis/critical_path.h"
#include "opscope/trace.h"

namespace opscope {

// No span, work, lane or call.
inline constexpr uint32_t kNoPathNode = UINT32_MAX;

// A blocking call of the host: cudaDeviceSynchronize, cudaMemcpy, ...
struct BlockingCall {
  int64_t begin = 0, end = 0;
  uint32_t span = 0;
  uint32_t lane = 0;            // of its rank
  uint32_t work = kNoPathNode;  // the work that it waits for
};

class HostLane {
 public:
  HostLane(std::vector<uint32_t> tracks, bool has_step) : is_main(has_step), tracks_(std::move(tracks)) {}

  bool is_main;

  // Threads, by number.
  const std::vector<uint32_t>& tracks() const { return tracks_; }
  // Host spans.
  uint64_t spans() const { return spans_; }
  // From the first begin to the last end.
  Interval window() const { return window_; }
  // Time in which a host span is open; without the waits, once they are set.
  int64_t covered_ns() const { return covered_.length(); }
  // The moments at which pieces have a weight.
  const IntervalSet& weighing() const { return is_main ? weighing_ : covered_; }
  // Weight of all pieces before `time`. O(log n), O(1) near the time of the call before.
  int64_t WeightUntil(int64_t time) const { return weighing().LengthBefore(time, &near_); }
  // The part of the weight in which a host span is open.
  int64_t HostWeightIn(int64_t begin, int64_t end) const { return covered_.LengthIn(begin, end); }

  // Reads the host spans; appends the blocking calls among them.
  void Read(const Trace& trace, const std::vector<uint8_t>* selected, uint32_t lane, HostSpans* host,
            std::vector<BlockingCall>* calls);
  // Pieces within `waits` weigh nothing.
  void SetWaits(std::vector<Interval> waits);

 private:
  std::vector<uint32_t> tracks_;
  uint64_t spans_ = 0;
  Interval window_ = {INT64_MAX, INT64_MIN};
  IntervalSet covered_;
  IntervalSet weighing_;     // of a main lane
  mutable size_t near_ = 0;  // of weighing()
};

// By track: the lowest track of its lane, which identifies the lane. A track that is no thread is a lane by itself.
[[nodiscard]] std::vector<uint32_t> FindLaneOfTracks(const Trace& trace);

// Walks along the pieces of a lane.
class LanePieces {
 public:
  LanePieces(const Trace& trace, const std::vector<uint8_t>* selected, const HostSpans& host, const HostLane& lane);

  // Appends the pieces of weight > 0 in [begin, end), in order of time. REQUIRES: begin and end are nodes; begin is not
  // before the end of the previous call.
  void AppendTo(int64_t begin, int64_t end, std::vector<CriticalPathEdge>* rows);

 private:
  struct OpenSpan {
    int64_t end;
    uint32_t span;
  };

  int64_t NextNode() const;
  void Pass(int64_t node);
  bool Weighs(int64_t piece_begin);

  const Timestamp* start_;    // column of the Trace
  const Duration* duration_;  // likewise
  std::span<const Interval> weighing_;
  std::vector<uint32_t> spans_;  // in the order in which they open: by begin, longer first
  size_t next_ = 0;              // of spans_
  int64_t at_ = INT64_MIN;       // the node that was passed last
  std::vector<OpenSpan> open_;   // the owner is the last one that has not ended
  uint32_t ended_last_ = kNoPathNode;
  // Whether the ends in open_ fall. If not, the ends ahead are a heap.
  bool is_nested_ = true;
  std::vector<int64_t> ends_;
};

}  // namespace opscope

// Assigns spans to lanes, for formats that have only begin and end events: two spans of a lane are nested or disjoint.
// A track has one lane for its nested spans. A span that crosses the end of its parent goes to another lane with its
// descendants, and so does each asynchronous span.
//
//   track     |--a-----------|          lane "nested"    a( b( b) a)
//               |--b--|  |--c----|      lane "crossing"  c( d( d) c)
//                           |-d-|
//
// Times become unsigned offsets from a base: the Trace's if no time is negative, else its first time. Spans further
// from it than the format can represent are left out with their descendants; the latest spans are kept.
//
// Thread rule: immutable after construction, any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "opscope/trace.h"

namespace opscope {

// The times that a format can represent: nanoseconds from `base` to base + most.
struct ExportTimes {
  Timestamp base;
  uint64_t most = 0;

  bool Holds(Timestamp time) const { return time >= base && At(time) <= most; }
  // REQUIRES: time >= base
  uint64_t At(Timestamp time) const { return static_cast<uint64_t>(time.ns) - static_cast<uint64_t>(base.ns); }
};
// Chooses the base for all times of the Trace, ends of spans included. O(rows).
[[nodiscard]] ExportTimes ChooseTimeBase(const Trace& trace, uint64_t most);

// start + duration, clamped to the largest Timestamp. `spans`: SpanColumns or AsyncSpanColumns.
template <typename Spans>
[[nodiscard]] Timestamp EndOf(const Spans& spans, size_t row) {
  return {SaturatingAdd(spans.start[row].ns, spans.duration[row].ns)};
}

// Partitions intervals, sorted by start, into the fewest rows without overlap. Returns the indexes of each row's
// intervals, in order. O(n log n).
struct Interval {
  Timestamp start, end;
};
[[nodiscard]] std::vector<std::vector<uint32_t>> PartitionIntervals(const std::vector<Interval>& intervals);

enum class LaneKind : uint8_t { kNested, kCrossing, kAsync };

struct Lane {
  TrackId track;
  LaneKind kind;
  size_t begin, end;  // of rows()
};

class SpanLanes {
 public:
  SpanLanes(const Trace& trace, const ExportTimes& times);

  const std::vector<Lane>& lanes() const { return lanes_; }    // by track, none is empty
  const std::vector<uint32_t>& rows() const { return rows_; }  // of spans, by lane, parents before children
  uint64_t crossing_spans() const { return crossing_; }        // subtrees that left their track's lane
  uint64_t far_spans() const { return far_; }                  // left out: time out of range
  // The enclosing span on the same lane; kNone at the top.
  SpanId Parent(uint32_t row) const { return is_top_[row] ? SpanId::kNone : spans_.parent[row]; }

  // Calls begin(row) and end(row) in order of time for the rows [first, last) of a lane, so that blocks of a lane can
  // be written in parallel. Spans opened before `first` are closed too; spans still open at `last` are closed only if
  // the lane ends there.
  template <typename Begin, typename End>
  void ForEachEdge(const Lane& lane, size_t first, size_t last, const Begin& begin, const End& end) const {
    std::vector<uint32_t> open = OpenBefore(lane, first);
    const auto close_until = [&](SpanId keep) {
      while (!open.empty() && (keep == SpanId::kNone || open.back() != Row(keep))) {
        end(open.back());
        open.pop_back();
      }
    };
    for (size_t i = first; i < last; ++i) {
      close_until(Parent(rows_[i]));
      begin(rows_[i]);
      open.push_back(rows_[i]);
    }
    if (last == lane.end) close_until(SpanId::kNone);
  }

 private:
  struct Unit {  // a subtree that moves to another lane as a whole
    uint32_t first, last;
    size_t begin = 0, end = 0;  // of unit_rows_
  };

  void AddTrack(TrackId track, const ExportTimes& times);
  // Appends those of the rows [first, last) that fit one lane to `rows`, and the others to crossing_units_ and
  // async_units_.
  void LayOut(uint32_t first, uint32_t last, const ExportTimes& times, std::vector<uint32_t>* rows);
  void AddLanes(TrackId track, LaneKind kind, std::vector<Unit>* units);
  uint32_t SubtreeEnd(uint32_t row, uint32_t last);
  std::vector<uint32_t> OpenBefore(const Lane& lane, size_t first) const;

  const SpanColumns& spans_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> rows_;
  std::vector<bool> is_top_;
  uint64_t crossing_ = 0, far_ = 0;

  // Scratch state for the current track.
  uint32_t track_first_ = 0, track_last_ = 0;
  std::vector<uint32_t> subtree_end_;  // computed on first use
  std::vector<Unit> crossing_units_, async_units_;
  std::vector<uint32_t> unit_rows_;
  std::vector<uint32_t> open_;
};

// A title for the user: "thread 12", or with_process "python 34: thread 12 (main)".
[[nodiscard]] std::string TrackTitle(const Trace& trace, TrackId track, bool with_process);
[[nodiscard]] std::string ProcessTitle(const Trace& trace, ProcessId process);

}  // namespace opscope

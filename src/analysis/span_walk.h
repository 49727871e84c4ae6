// One pass over rows that maintains the stack of open spans. Rows of a track are in pre-order, so the stack holds every
// ancestor of the next span: its clipped times bound the child's, and a child's time and device time are added to its
// parent before the parent is left. Memory is O(depth), not O(spans).
//
// Each moment is the self time of exactly one span. A child's time counts only within its parent. If the next sibling
// begins before a span ends (crossing spans, src/trace/nesting.h), the rest belongs to the sibling:
//
//   a [0,10)   b [2,6) in a   c [4,8) in b   d [7,8) in a      self times 5, 2, 2, 1: c is over when b is
//   a [0,10)   b [2,6) in a   c [4,8) in a                     self times 4, 2, 4
//
// A pass may begin at any row, so that threads can take a chunk each: the spans around the first row are found through
// their parents. What the chunk adds to them is returned in WalkedRows::around, the spans still open at its end in
// WalkedRows::open. SpansCrossingChunks joins the chunks in order:
//
//   rows     0    1    2  |  3    4    5        chunk 1 walks 0 and 1 as spans around it; what 3 takes from 1, and
//   depth    0    1    2  |  2    0    1        the device time beneath it, comes to 1 when the chunks are joined
//
// A pass may be limited to a window of time: every span is then clipped to it, too, and self times are the parts of the
// self times in the window.
//
// Thread rule: one thread at a time for each pass; passes over different rows may run at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/saturating.h"
#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct OpenSpan {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t row = 0;
  uint32_t group = kNone;        // for the visitor
  uint32_t flop_call = kNone;    // for the visitor
  uint32_t step = kNone;         // for the visitor
  bool is_nested = false;        // for the visitor
  bool is_thread = false;        // on a thread
  bool is_device = false;        // on a stream
  int64_t start = 0, end = 0;    // clipped to its parent
  uint64_t self = 0;             // clipped, minus direct children; unsigned, so that a hostile file may overflow it
  int64_t launched = 0;          // device time that it launched directly
  int64_t launched_beneath = 0;  // by it and its descendants

  // Negative only in damaged input: overlapping siblings that are not in the order of their starts.
  int64_t self_ns() const { return std::max<int64_t>(0, static_cast<int64_t>(self)); }
  int64_t device_self_ns() const { return is_device ? self_ns() : launched; }
  int64_t device_total_ns(Duration duration) const { return is_device ? duration.ns : launched_beneath; }
  uint64_t TimeFrom(int64_t moment) const {
    const int64_t from = std::max(start, moment);
    return from < end ? static_cast<uint64_t>(end) - static_cast<uint64_t>(from) : 0;
  }
};

// The next sibling begins: the rest of `span` is no longer its self time and returns to the parent.
inline void EndSelfTime(OpenSpan* span, OpenSpan* parent, int64_t next_begin) {
  const uint64_t rest = span->TimeFrom(next_begin);
  span->self -= rest;
  if (parent != nullptr) parent->self += rest;
}

struct WalkedRows {
  // What the rows add to one ancestor of the first row. Zeros are omitted: a hostile tree may have as many ancestors as
  // rows.
  struct Added {
    size_t depth = 0;  // 0: the outermost
    uint64_t self = 0;
    int64_t launched_beneath = 0;
  };
  size_t depth = 0;                // of the first row
  int64_t begin = INT64_MAX;       // start of the first row, if the preceding row is in the same nesting
  size_t open_ancestor_count = 0;  // number of its ancestors that also enclose the next chunk
  std::vector<Added> around;
  std::vector<OpenSpan> open;  // spans of these rows whose descendants may continue in the next chunk
};

// A visitor provides
//   Enter(OpenSpan* span, const OpenSpan* parent)        the times are set; the visitor sets `launched`
//   EnterAncestor(OpenSpan* span, const OpenSpan* parent)  the same for an ancestor of the first row
//   Close(const OpenSpan& span)                          no longer encloses the next rows
//   Complete(const OpenSpan& span)                       all of its descendants have been visited
template <typename Visitor>
class SpanWalk {
 public:
  // Only the moments in [window_begin, window_end) count.
  SpanWalk(const Trace& trace, Visitor* visitor, int64_t window_begin = INT64_MIN, int64_t window_end = INT64_MAX)
      : spans_(trace.spans()),
        tracks_(trace.tracks()),
        visitor_(visitor),
        window_begin_(window_begin),
        window_end_(window_end) {}

  WalkedRows Walk(size_t first, size_t end) {
    stack_.clear();
    WalkedRows walked;
    if (first > 0 && first < end && IsBesideTheLast(first)) walked.begin = spans_.start[first].ns;
    EnterAncestors(first, &walked);
    for (size_t row = first; row < end; ++row) {
      const SpanId parent = spans_.parent[row];
      while (!stack_.empty() && SpanId{stack_.back().row} != parent) {
        if (stack_.back().end > spans_.start[row].ns && IsBesideTheLast(row))
          EndSelfTime(&stack_.back(), Around(), spans_.start[row].ns);
        Leave(&walked);
      }
      OpenSpan* span = Push(row);
      OpenSpan* around = Around();
      span->self = span->TimeFrom(span->start);
      if (around != nullptr) around->self -= span->self;
      visitor_->Enter(span, around);
      span->launched_beneath = span->launched;
    }
    for (size_t i = stack_.size(); i-- > 0;)
      visitor_->Close(stack_[i]);
    walked.open_ancestor_count = around_;
    walked.open.assign(stack_.begin() + static_cast<ptrdiff_t>(around_), stack_.end());
    while (around_ > 0)
      ReturnAncestor(stack_[--around_], &walked);
    return walked;
  }

 private:
  OpenSpan* Push(size_t row) {
    if (const TrackId track = spans_.track[row]; track != track_) {
      track_ = track;
      kind_ = tracks_.kind[Row(track)];
    }
    OpenSpan& span = stack_.emplace_back();
    span.row = static_cast<uint32_t>(row);
    span.is_thread = kind_ == TrackKind::kThread;
    span.is_device = kind_ == TrackKind::kDeviceStream;
    span.start = std::max(window_begin_, spans_.start[row].ns);
    span.end = std::min(window_end_, SaturatingAdd(spans_.start[row].ns, spans_.duration[row].ns));
    if (const OpenSpan* around = Around()) {
      span.start = std::max(span.start, around->start);
      span.end = std::min(span.end, around->end);
    }
    return &span;
  }

  OpenSpan* Around() { return stack_.size() > 1 ? &stack_.back() - 1 : nullptr; }

  // Async spans follow all others of their track and have no siblings.
  bool IsBesideTheLast(size_t row) const {
    return spans_.track[row] == spans_.track[row - 1] && (spans_.flags[row] & span_flags::kAsync) == 0;
  }

  void EnterAncestors(size_t row, WalkedRows* walked) {
    std::vector<uint32_t> rows;
    for (SpanId id = spans_.parent[row]; id != SpanId::kNone; id = spans_.parent[Row(id)])
      rows.push_back(Row(id));
    for (size_t i = rows.size(); i-- > 0;) {
      OpenSpan* span = Push(rows[i]);
      visitor_->EnterAncestor(span, Around());
    }
    around_ = walked->depth = stack_.size();
  }

  void Leave(WalkedRows* walked) {
    OpenSpan& span = stack_.back();
    visitor_->Close(span);
    if (stack_.size() == around_) {
      --around_;
      ReturnAncestor(span, walked);
    } else {
      if (OpenSpan* around = Around())
        around->launched_beneath = SaturatingAdd(around->launched_beneath, span.launched_beneath);
      visitor_->Complete(span);
    }
    stack_.pop_back();
  }

  // REQUIRES: around_ is the depth of the span.
  void ReturnAncestor(const OpenSpan& span, WalkedRows* walked) const {
    if (span.self != 0 || span.launched_beneath != 0)
      walked->around.push_back({around_, span.self, span.launched_beneath});
  }

  const SpanColumns& spans_;
  const TrackColumns& tracks_;
  Visitor* visitor_;
  int64_t window_begin_, window_end_;
  TrackId track_ = TrackId::kNone;
  TrackKind kind_ = TrackKind::kOther;
  std::vector<OpenSpan> stack_;
  size_t around_ = 0;  // number of stack entries that enclose the first row
};

// Joins the results of consecutive chunks. Calls complete(span) for each span that was open across chunks once all of
// its descendants have been visited.
class SpansCrossingChunks {
 public:
  template <typename Complete>
  void Add(const WalkedRows& walked, const Complete& complete) {
    OPSCOPE_CHECK(walked.depth <= open_.size());
    LeaveDownTo(walked.depth, walked.begin, complete);
    for (const WalkedRows::Added& added : walked.around) {
      OpenSpan& span = open_[added.depth];
      span.self += added.self;
      span.launched_beneath = SaturatingAdd(span.launched_beneath, added.launched_beneath);
    }
    LeaveDownTo(walked.open_ancestor_count, INT64_MAX, complete);
    open_.insert(open_.end(), walked.open.begin(), walked.open.end());
  }
  template <typename Complete>
  void End(const Complete& complete) {
    LeaveDownTo(0, INT64_MAX, complete);
  }

 private:
  template <typename Complete>
  void LeaveDownTo(size_t depth, int64_t next_begin, const Complete& complete) {
    while (open_.size() > depth) {
      OpenSpan span = open_.back();
      open_.pop_back();
      OpenSpan* around = open_.empty() ? nullptr : &open_.back();
      EndSelfTime(&span, around, next_begin);
      if (around != nullptr) around->launched_beneath = SaturatingAdd(around->launched_beneath, span.launched_beneath);
      complete(span);
    }
  }

  std::vector<OpenSpan> open_;
};

}  // namespace opscope

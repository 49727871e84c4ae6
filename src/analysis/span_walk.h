// One pass over rows that knows which spans are open. Within a track spans lie in pre-order, so a stack of the open
// ones has every ancestor of the next: its clipped end gives the child's, and what a child adds to its parent (time
// inside it, device time beneath it) is on hand when the parent is left. Nothing is kept per span.
//
// A pass may begin at any row: the spans around that row are found by their parents. What is added to them is handed
// out (WalkedRows::around), and so are the spans that are still open at the end (WalkedRows::open). SpansAcrossChunks
// joins the chunks of a table, in order:
//
//   rows     0    1    2  |  3    4    5        chunk 1 walks 0 and 1 as spans around it; what 3 takes from 1, and
//   depth    0    1    2  |  2    0    1        the device time beneath it, comes to 1 when the chunks are joined
//
// Thread rule: one thread at a time for each pass; passes over different rows may run at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "opscope/result.h"
#include "opscope/trace.h"

namespace opscope {

struct OpenSpan {
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t row = 0;
  uint32_t group = kNone;         // the visitor's
  uint32_t flop_call = kNone;     // the visitor's
  bool is_nested = false;         // the visitor's
  bool is_thread = false;         // on a track of this kind
  bool is_device = false;         // on a stream
  int64_t start = 0, end = 0;     // clipped to its parent
  uint64_t self = 0;              // duration without direct children; wraps, as hostile children add up to any number
  uint64_t launched = 0;          // device time that it launched
  uint64_t launched_beneath = 0;  // by it and all inside it

  // Below 0 only in damaged input: siblings that overlap on a track whose nesting was recorded by depth.
  int64_t self_ns() const { return std::max<int64_t>(0, static_cast<int64_t>(self)); }
  int64_t device_self_ns() const { return is_device ? self_ns() : static_cast<int64_t>(launched); }
  int64_t device_total_ns(Duration duration) const {
    return is_device ? duration.ns : static_cast<int64_t>(launched_beneath);
  }
};

struct WalkedRows {
  // What rows add to a span around the first one; only where that is anything: a hostile tree may be as deep as long.
  struct Added {
    size_t depth = 0;  // 0: the outermost
    uint64_t self = 0, launched_beneath = 0;
  };
  size_t depth = 0;         // of the first row
  size_t still_around = 0;  // so many of its ancestors are around what follows, too
  std::vector<Added> around;
  std::vector<OpenSpan> open;  // of these rows, those whose descendants may go on behind them
};

// A visitor has
//   Enter(OpenSpan* span, const OpenSpan* parent)        its columns are filled in; `launched` is the visitor's to say
//   EnterAround(OpenSpan* span, const OpenSpan* parent)  the same for an ancestor of the first row
//   Close(const OpenSpan& span)                          is no longer around what comes
//   Complete(const OpenSpan& span)                       all of its descendants were seen
template <typename Visitor>
class SpanWalk {
 public:
  SpanWalk(const Trace& trace, Visitor* visitor) : spans_(trace.spans()), tracks_(trace.tracks()), visitor_(visitor) {}

  WalkedRows Walk(size_t first, size_t end) {
    stack_.clear();
    WalkedRows walked;
    EnterAncestors(first, &walked);
    for (size_t row = first; row < end; ++row) {
      const SpanId parent = spans_.parent[row];
      while (!stack_.empty() && SpanId{stack_.back().row} != parent)
        Leave(&walked);
      OpenSpan* span = Push(row);
      OpenSpan* around = stack_.size() > 1 ? span - 1 : nullptr;
      if (around != nullptr) around->self -= TimeInside(*span, *around);
      span->self = static_cast<uint64_t>(spans_.duration[row].ns);
      visitor_->Enter(span, around);
      span->launched_beneath = span->launched;
    }
    for (size_t i = stack_.size(); i-- > 0;)
      visitor_->Close(stack_[i]);
    walked.still_around = around_;
    walked.open.assign(stack_.begin() + static_cast<ptrdiff_t>(around_), stack_.end());
    while (around_ > 0)
      HandOut(stack_[--around_], &walked);
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
    span.start = spans_.start[row].ns;
    span.end = (spans_.start[row] + spans_.duration[row]).ns;
    if (stack_.size() > 1) span.end = std::min(span.end, (&span - 1)->end);
    return &span;
  }

  static uint64_t TimeInside(const OpenSpan& span, const OpenSpan& parent) {
    const Duration inside = Timestamp{span.end} - Timestamp{std::max(span.start, parent.start)};
    return static_cast<uint64_t>(std::max<int64_t>(0, inside.ns));
  }

  void EnterAncestors(size_t row, WalkedRows* walked) {
    std::vector<uint32_t> rows;
    for (SpanId id = spans_.parent[row]; id != SpanId::kNone; id = spans_.parent[Row(id)])
      rows.push_back(Row(id));
    for (size_t i = rows.size(); i-- > 0;) {
      OpenSpan* span = Push(rows[i]);
      visitor_->EnterAround(span, stack_.size() > 1 ? span - 1 : nullptr);
    }
    around_ = walked->depth = stack_.size();
  }

  void Leave(WalkedRows* walked) {
    OpenSpan& span = stack_.back();
    visitor_->Close(span);
    if (stack_.size() == around_) {
      --around_;
      HandOut(span, walked);
    } else {
      if (stack_.size() > 1) (&span - 1)->launched_beneath += span.launched_beneath;
      visitor_->Complete(span);
    }
    stack_.pop_back();
  }

  // REQUIRES: around_ is the depth of the span.
  void HandOut(const OpenSpan& span, WalkedRows* walked) const {
    if ((span.self | span.launched_beneath) != 0) walked->around.push_back({around_, span.self, span.launched_beneath});
  }

  const SpanColumns& spans_;
  const TrackColumns& tracks_;
  Visitor* visitor_;
  TrackId track_ = TrackId::kNone;
  TrackKind kind_ = TrackKind::kOther;
  std::vector<OpenSpan> stack_;
  size_t around_ = 0;  // so many of the stack lie around the first row
};

// Joins what passes over consecutive chunks leave, and tells when a span that was open across them is complete.
class SpansAcrossChunks {
 public:
  template <typename Complete>
  void Add(const WalkedRows& walked, const Complete& complete) {
    OPSCOPE_CHECK(walked.depth <= open_.size());
    LeaveDownTo(walked.depth, complete);
    for (const WalkedRows::Added& added : walked.around) {
      open_[added.depth].self += added.self;
      open_[added.depth].launched_beneath += added.launched_beneath;
    }
    LeaveDownTo(walked.still_around, complete);
    open_.insert(open_.end(), walked.open.begin(), walked.open.end());
  }
  template <typename Complete>
  void End(const Complete& complete) {
    LeaveDownTo(0, complete);
  }

 private:
  template <typename Complete>
  void LeaveDownTo(size_t depth, const Complete& complete) {
    while (open_.size() > depth) {
      const OpenSpan span = open_.back();
      open_.pop_back();
      if (!open_.empty()) open_.back().launched_beneath += span.launched_beneath;
      complete(span);
    }
  }

  std::vector<OpenSpan> open_;
};

}  // namespace opscope

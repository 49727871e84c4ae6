// Lanes of a critical path. A piece between two neighbouring nodes belongs to the open span that began last:
//
//   a [0, 10), b [2, 4), a thread waits in [6, 9)      pieces: a [0, 2), b [2, 4), a [4, 6), a [9, 10)
//
// Spans open in the order of their begins, so the owner is the top of a stack: ended spans are removed when they reach
// the top. That also holds for spans that cross and for lanes of several threads. The nodes ahead are the next begin
// and the least end of an open span. Of nested spans that is the end of the top; only where spans cross are the ends
// kept in a heap, which would otherwise take most of the time.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/critical_path_lanes.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "analysis/steps_of_ranks.h"
#include "analysis/track_spans.h"
#include "base/huge_pages.h"
#include "base/natural_sort.h"
#include "base/saturating.h"

namespace opscope {

void HostLane::Read(const Trace& trace, const std::vector<uint8_t>* selected, uint32_t lane, HostSpans* host,
                    std::vector<BlockingCall>* calls) {
  const SpanColumns& spans = trace.spans();
  std::vector<Interval> covered;
  for (const uint32_t track : tracks_) {
    host->ForEach(track, [&](uint32_t span) {
      if (!IsSelected(selected, span)) return;
      const auto [begin, end] = TimeOfSpan(spans, span);
      ++spans_;
      window_ = {std::min(window_.begin, begin), std::max(window_.end, end)};
      AppendOrExtend({begin, end}, &covered);
      if (host->IsBlockingCall(span)) calls->push_back({.begin = begin, .end = end, .span = span, .lane = lane});
    });
  }
  covered_ = IntervalSet(std::move(covered));
}

void HostLane::SetWaits(std::vector<Interval> waits) {
  near_ = 0;
  if (is_main) weighing_ = IntervalSet(std::vector<Interval>{window_});
  const IntervalSet waiting(std::move(waits));
  if (waiting.intervals().empty()) return;
  covered_ = covered_.Minus(waiting);
  weighing_ = weighing_.Minus(waiting);
}

std::vector<uint32_t> FindLaneOfTracks(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const FlowColumns& flows = trace.flows();
  std::vector<uint32_t> lanes(tracks.size());
  std::iota(lanes.begin(), lanes.end(), 0u);
  const std::optional<StringId> fwdbwd = trace.FindString("fwdbwd");
  if (!fwdbwd) return lanes;
  const auto find = [&](uint32_t track) {
    while (lanes[track] != track)
      track = lanes[track] = lanes[lanes[track]];
    return track;
  };
  const auto is_thread = [&](TrackId track) {
    return track != TrackId::kNone && tracks.kind[Row(track)] == TrackKind::kThread;
  };
  for (size_t i = 0; i < flows.size(); ++i) {
    const TrackId start = flows.start_track[i], end = flows.end_track[i];
    if (flows.category[i] != *fwdbwd || start == end || !is_thread(start) || !is_thread(end)) continue;
    if (RankOfTrack(trace, start) != RankOfTrack(trace, end)) continue;
    const auto [low, high] = std::minmax({find(Row(start)), find(Row(end))});
    lanes[high] = low;
  }
  for (uint32_t track = 0; track < lanes.size(); ++track)
    lanes[track] = find(track);
  return lanes;
}

LanePieces::LanePieces(const Trace& trace, const std::vector<uint8_t>* selected, const HostSpans& host,
                       const HostLane& lane)
    : start_(trace.spans().start.data()),
      duration_(trace.spans().duration.data()),
      weighing_(lane.weighing().intervals()) {
  ReserveOnHugePages(&spans_, lane.spans());
  for (const uint32_t track : lane.tracks()) {
    host.ForEach(track, [&](uint32_t span) {
      if (IsSelected(selected, span)) spans_.push_back(span);
    });
  }
  NaturalSort(&spans_, [&](uint32_t a, uint32_t b) {
    if (start_[a] != start_[b]) return start_[a] < start_[b];
    return duration_[a] != duration_[b] ? duration_[a] > duration_[b] : a < b;
  });
}

int64_t LanePieces::NextNode() const {
  const int64_t begin = next_ < spans_.size() ? start_[spans_[next_]].ns : INT64_MAX;
  if (is_nested_) return open_.empty() ? begin : std::min(begin, open_.back().end);
  return ends_.empty() ? begin : std::min(begin, ends_.front());
}

// Closes what ends at `node` and opens what begins there.
void LanePieces::Pass(int64_t node) {
  at_ = node;
  for (; !open_.empty() && open_.back().end <= node; open_.pop_back())
    if (open_.back().end == node) ended_last_ = open_.back().span;
  if (!is_nested_) {
    while (!ends_.empty() && ends_.front() <= node) {
      std::pop_heap(ends_.begin(), ends_.end(), std::greater<>());
      ends_.pop_back();
    }
    is_nested_ = open_.empty();
  }
  for (; next_ < spans_.size() && start_[spans_[next_]].ns <= node; ++next_) {
    const OpenSpan span{SaturatingAdd(node, duration_[spans_[next_]].ns), spans_[next_]};
    if (span.end == node) {
      ended_last_ = span.span;
      continue;
    }
    if (is_nested_ && !open_.empty() && span.end > open_.back().end) {
      is_nested_ = false;
      ends_.clear();
      for (auto open = open_.rbegin(); open != open_.rend(); ++open)
        ends_.push_back(open->end);  // they rise, which is a heap
    }
    open_.push_back(span);
    if (is_nested_) continue;
    ends_.push_back(span.end);
    std::push_heap(ends_.begin(), ends_.end(), std::greater<>());
  }
}

bool LanePieces::Weighs(int64_t piece_begin) {
  while (!weighing_.empty() && weighing_.front().end <= piece_begin)
    weighing_ = weighing_.subspan(1);
  return !weighing_.empty() && weighing_.front().begin <= piece_begin;
}

void LanePieces::AppendTo(int64_t begin, int64_t end, std::vector<CriticalPathEdge>* rows) {
  while (at_ < end) {
    const int64_t from = at_, to = NextNode();
    if (from >= begin && from < to && Weighs(from)) {
      const bool is_gap = open_.empty();
      rows->push_back({.start_ns = from,
                       .duration_ns = SaturatingSubtract(to, from),
                       .span = SpanId{is_gap ? ended_last_ : open_.back().span},
                       .kind = is_gap ? PathEdgeKind::kGap : PathEdgeKind::kHost});
    }
    Pass(to);
  }
}

}  // namespace opscope

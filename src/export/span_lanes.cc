// Distributes the spans of each track over lanes in which spans nest, for formats that know only begin and end
// (picture: span_lanes.h).
// LayOut walks a track in pre-order with a stack of open spans. A span that begins before its sibling ended, or ends
// after its parent, becomes a crossing unit with its whole subtree, and the unit is laid out again by itself. Units are
// then packed into as few lanes as possible: PartitionIntervals gives each the lane that became free earliest (interval
// partitioning, O(n log n)). One lane per crossing span would be simpler, and would give a trace in which each step
// crosses as many rows as steps.
// SPDX-License-Identifier: Apache-2.0
#include "export/span_lanes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "base/text.h"

namespace opscope {

ExportTimes ChooseTimeBase(const Trace& trace, uint64_t most) {
  Timestamp first{std::numeric_limits<int64_t>::max()}, last{std::numeric_limits<int64_t>::min()};
  const auto widen = [&](std::span<const Timestamp> times) {
    for (const Timestamp time : times)
      first = std::min(first, time), last = std::max(last, time);
  };
  const auto widen_spans = [&](const auto& spans) {
    widen(spans.start);
    for (size_t i = 0; i < spans.size(); ++i)
      last = std::max(last, EndOf(spans, i));
  };
  widen_spans(trace.spans());
  widen_spans(trace.async_spans());
  widen(trace.instants().time);
  widen(trace.counters().time);
  widen(trace.allocations().time);
  if (last < first) return {{0}, most};
  ExportTimes times{std::min(first, Timestamp{0}), most};
  if (times.At(last) > most) times.base = first;
  if (times.At(last) > most) times.base = last + Duration{-static_cast<int64_t>(most)};
  return times;
}

std::vector<std::vector<uint32_t>> PartitionIntervals(const std::vector<Interval>& intervals) {
  using Free = std::pair<Timestamp, size_t>;  // time from which a row is free, row
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  std::vector<std::vector<uint32_t>> rows;
  for (uint32_t i = 0; i < intervals.size(); ++i) {
    size_t row = rows.size();
    if (!free.empty() && free.top().first <= intervals[i].start) {
      row = free.top().second;
      free.pop();
    } else {
      rows.emplace_back();
    }
    rows[row].push_back(i);
    free.emplace(intervals[i].end, row);
  }
  return rows;
}

SpanLanes::SpanLanes(const Trace& trace, const ExportTimes& times)
    : spans_(trace.spans()), is_top_(trace.spans().size(), false) {
  rows_.reserve(spans_.size());
  const TrackColumns& tracks = trace.tracks();
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    track_first_ = tracks.first_span[track];
    track_last_ = track_first_ + tracks.span_count[track];
    AddTrack(TrackId{track}, times);
  }
}

void SpanLanes::AddTrack(TrackId track, const ExportTimes& times) {
  subtree_end_.clear();
  crossing_units_.clear();
  async_units_.clear();
  unit_rows_.clear();
  const size_t begin = rows_.size();
  LayOut(track_first_, track_last_, times, &rows_);
  if (rows_.size() > begin) lanes_.push_back({track, LaneKind::kNested, begin, rows_.size()});
  for (size_t i = 0; i < crossing_units_.size(); ++i) {  // LayOut may append more
    crossing_units_[i].begin = unit_rows_.size();
    LayOut(crossing_units_[i].first, crossing_units_[i].last, times, &unit_rows_);
    crossing_units_[i].end = unit_rows_.size();
  }
  crossing_ += crossing_units_.size();
  AddLanes(track, LaneKind::kCrossing, &crossing_units_);
  for (Unit& unit : async_units_) {
    unit.begin = unit_rows_.size();
    unit_rows_.push_back(unit.first);
    is_top_[unit.first] = true;
    unit.end = unit_rows_.size();
  }
  AddLanes(track, LaneKind::kAsync, &async_units_);
}

void SpanLanes::LayOut(uint32_t first, uint32_t last, const ExportTimes& times, std::vector<uint32_t>* rows) {
  const bool is_unit = first != track_first_ || last != track_last_;
  open_.clear();
  Timestamp last_start{std::numeric_limits<int64_t>::min()};
  for (uint32_t row = first; row < last;) {
    if (!times.Holds(spans_.start[row]) || !times.Holds(EndOf(spans_, row))) {
      const uint32_t end = SubtreeEnd(row, last);
      far_ += end - row;
      row = end;
      continue;
    }
    if ((spans_.flags[row] & span_flags::kAsync) != 0) {
      async_units_.push_back({row, row + 1});
      ++row;
      continue;
    }
    const SpanId parent = is_unit && row == first ? SpanId::kNone : spans_.parent[row];
    // Row numbers ascend from parent to child, so binary search works.
    const auto place =
        parent == SpanId::kNone ? open_.end() : std::lower_bound(open_.begin(), open_.end(), Row(parent));
    const bool has_parent = place != open_.end() && *place == Row(parent);
    const size_t keep = has_parent ? static_cast<size_t>(place - open_.begin()) + 1 : 0;
    const Timestamp start = spans_.start[row];
    const bool fits = start >= last_start && (keep == open_.size() || EndOf(spans_, open_[keep]) <= start) &&
                      (!has_parent || EndOf(spans_, row) <= EndOf(spans_, Row(parent)));
    if (!fits && !(is_unit && row == first)) {
      const uint32_t end = SubtreeEnd(row, last);
      crossing_units_.push_back({row, end});
      row = end;
      continue;
    }
    open_.resize(keep);
    open_.push_back(row);
    is_top_[row] = !has_parent;
    last_start = start;
    rows->push_back(row);
    ++row;
  }
}

uint32_t SpanLanes::SubtreeEnd(uint32_t row, uint32_t last) {
  if (subtree_end_.empty()) {
    subtree_end_.resize(track_last_ - track_first_);
    for (uint32_t at = track_last_; at-- > track_first_;) {
      uint32_t& end = subtree_end_[at - track_first_];
      end = std::max(end, at + 1);
      const uint32_t parent = Row(spans_.parent[at]);
      if (parent >= track_first_ && parent < at) {
        uint32_t& around = subtree_end_[parent - track_first_];
        around = std::max(around, end);
      }
    }
  }
  return std::min(subtree_end_[row - track_first_], last);
}

void SpanLanes::AddLanes(TrackId track, LaneKind kind, std::vector<Unit>* units) {
  std::sort(units->begin(), units->end(), [&](const Unit& a, const Unit& b) {
    return std::pair(spans_.start[a.first], a.first) < std::pair(spans_.start[b.first], b.first);
  });
  std::vector<Interval> intervals;
  for (const Unit& unit : *units)
    intervals.push_back({spans_.start[unit.first], EndOf(spans_, unit.first)});
  for (const std::vector<uint32_t>& of_lane : PartitionIntervals(intervals)) {
    const size_t begin = rows_.size();
    for (const uint32_t i : of_lane) {
      rows_.insert(rows_.end(), unit_rows_.begin() + static_cast<ptrdiff_t>((*units)[i].begin),
                   unit_rows_.begin() + static_cast<ptrdiff_t>((*units)[i].end));
    }
    if (rows_.size() > begin) lanes_.push_back({track, kind, begin, rows_.size()});
  }
}

std::vector<uint32_t> SpanLanes::OpenBefore(const Lane& lane, size_t first) const {
  std::vector<uint32_t> open;
  if (first == lane.begin) return open;
  for (SpanId at{rows_[first - 1]}; at != SpanId::kNone; at = Parent(Row(at)))
    open.push_back(Row(at));
  std::reverse(open.begin(), open.end());
  return open;
}

std::string ProcessTitle(const Trace& trace, ProcessId process) {
  const ProcessColumns& processes = trace.processes();
  const uint32_t row = Row(process);
  std::string title;
  if (processes.rank[row] >= 0) title = "rank " + std::to_string(processes.rank[row]) + " ";
  const std::string_view name = trace.text(processes.name[row]);
  title.append(name.empty() ? "process" : name).append(" ");
  const std::string_view text = trace.text(processes.pid_text[row]);
  if (text.empty()) {
    AppendInt(&title, processes.pid[row]);
  } else {
    title.append(text);
  }
  return title;
}

std::string TrackTitle(const Trace& trace, TrackId track, bool with_process) {
  const TrackColumns& tracks = trace.tracks();
  const uint32_t row = Row(track);
  std::string title = with_process ? ProcessTitle(trace, tracks.process[row]) + ": " : "";
  const std::string_view text = trace.text(tracks.tid_text[row]);
  const std::string_view name = trace.text(tracks.name[row]);
  if (!name.empty()) return title.append(name);
  if (!text.empty()) return title.append(text);
  const bool is_device =
      tracks.kind[row] == TrackKind::kDeviceStream || tracks.kind[row] == TrackKind::kDeviceAnnotation;
  title.append(is_device ? "stream " : "thread ");
  AppendInt(&title, tracks.tid[row]);
  return title;
}

}  // namespace opscope

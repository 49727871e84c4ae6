// Measures self time, device time and memory per span. Times come from one pass per chunk of rows (span_walk.h), on
// several threads. Memory needs a search per allocation: binary search for the last span that begins before it, then up
// its ancestors to the first one that still lasts.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/span_measures.h"

#include <algorithm>
#include <utility>

#include "analysis/device_launches.h"
#include "analysis/row_chunks.h"
#include "analysis/span_walk.h"
#include "base/in_order.h"
#include "base/saturating.h"

namespace opscope {
namespace {

// Ends of spans, each clipped to its clipped parent's.
std::vector<int64_t> ClippedEnds(const SpanColumns& spans) {
  std::vector<int64_t> ends(spans.size());
  for (size_t row = 0; row < spans.size(); ++row) {
    ends[row] = SaturatingAdd(spans.start[row].ns, spans.duration[row].ns);
    if (spans.parent[row] != SpanId::kNone) ends[row] = std::min(ends[row], ends[Row(spans.parent[row])]);
  }
  return ends;
}

// Stores the results of a pass per span. Passes over different rows write different entries, so no lock is needed.
class MeasureVisitor {
 public:
  MeasureVisitor(const Trace& trace, const DeviceLaunches& launches, std::vector<int64_t>* ends, SpanMeasures* measures)
      : spans_(trace.spans()), launches_(launches), ends_(ends), measures_(measures) {}

  void Enter(OpenSpan* span, const OpenSpan*) {
    if (span->is_thread) span->launched = launches_.LaunchedBy(span->row);
    if (!ends_->empty()) (*ends_)[span->row] = span->end;
  }
  void EnterAncestor(OpenSpan*, const OpenSpan*) {}
  void Close(const OpenSpan&) {}
  void Complete(const OpenSpan& span) {
    measures_->self_ns[span.row] = span.self_ns();
    if (!launches_.has_device()) return;
    measures_->device_self_ns[span.row] = span.device_self_ns();
    measures_->device_total_ns[span.row] = span.device_total_ns(spans_.duration[span.row]);
  }

 private:
  const SpanColumns& spans_;
  const DeviceLaunches& launches_;
  std::vector<int64_t>* ends_;
  SpanMeasures* measures_;
};

void MeasureMemory(const Trace& trace, const std::vector<int64_t>& ends, ThreadTeam* team, SpanMeasures* measures) {
  measures->self_memory_bytes.assign(trace.spans().size(), 0);
  const std::vector<SpanId> spans = SpansOfAllocations(trace, InnermostSpans(trace, ends), team);
  for (size_t i = 0; i < spans.size(); ++i) {
    if (spans[i] == SpanId::kNone) continue;
    int64_t& bytes = measures->self_memory_bytes[Row(spans[i])];
    bytes = SaturatingAdd(bytes, trace.allocations().bytes[i]);  // a hostile file may overflow
  }
}

}  // namespace

InnermostSpans::InnermostSpans(const Trace& trace) : InnermostSpans(trace, {}) {
  own_ends_ = ClippedEnds(trace.spans());
  ends_ = own_ends_;
}

InnermostSpans::InnermostSpans(const Trace& trace, std::span<const int64_t> ends) : trace_(trace), ends_(ends) {
  const TrackColumns& tracks = trace.tracks();
  const SpanColumns& spans = trace.spans();
  nested_end_.reserve(tracks.size());
  for (size_t track = 0; track < tracks.size(); ++track) {
    const auto flags = spans.flags.subspan(tracks.first_span[track], tracks.span_count[track]);
    const auto nested =
        std::partition_point(flags.begin(), flags.end(), [](uint8_t f) { return (f & span_flags::kAsync) == 0; });
    nested_end_.push_back(tracks.first_span[track] + static_cast<uint32_t>(nested - flags.begin()));
  }
  constexpr uint16_t kDeep = 256;
  if (std::any_of(spans.depth.begin(), spans.depth.end(), [](uint16_t depth) { return depth > kDeep; }))
    FindFarAncestors();
}

// Myers' jump pointers: a span's leads as far as its parent's and that one's together if both are equally long, else to
// the parent. So a path to any ancestor needs O(log depth) of them, with one pointer per span:
//
//   depth  0 1 2 3 4 5 6 7      leads to depth  - 0 - 2 3 2 - 6      -: above the outermost span
void InnermostSpans::FindFarAncestors() {
  const auto parent = trace_.spans().parent;
  std::vector<uint32_t> level(parent.size());  // from 1; the column of depths has 16 bits
  const auto level_of = [&](SpanId span) { return span == SpanId::kNone ? 0 : level[Row(span)]; };
  const auto far_of = [&](SpanId span) { return span == SpanId::kNone ? span : far_ancestor_[Row(span)]; };
  far_ancestor_.resize(parent.size(), SpanId::kNone);
  for (size_t row = 0; row < parent.size(); ++row) {
    const SpanId near = parent[row], far = far_of(near), further = far_of(far);
    level[row] = level_of(near) + 1;
    const bool is_equal = level_of(near) - level_of(far) == level_of(far) - level_of(further);
    far_ancestor_[row] = is_equal ? further : near;
  }
}

int64_t InnermostSpans::At(uint32_t track, Timestamp time) const {
  const SpanColumns& spans = trace_.spans();
  const auto first = spans.start.begin() + trace_.tracks().first_span[track];
  const auto last = spans.start.begin() + nested_end_[track];
  const auto after = std::upper_bound(first, last, time);
  if (after == first) return -1;
  int64_t row = after - spans.start.begin() - 1;
  while (ends_[static_cast<size_t>(row)] < time.ns) {
    SpanId around = spans.parent[static_cast<size_t>(row)];
    if (!far_ancestor_.empty()) {
      const SpanId far = far_ancestor_[static_cast<size_t>(row)];
      if (far != SpanId::kNone && ends_[Row(far)] < time.ns) around = far;
    }
    if (around == SpanId::kNone) return -1;
    row = Row(around);
  }
  return row;
}

std::vector<SpanId> SpansOfAllocations(const Trace& trace, const InnermostSpans& innermost, ThreadTeam* team) {
  const AllocationColumns& allocations = trace.allocations();
  std::vector<SpanId> spans(allocations.size(), SpanId::kNone);
  const RowChunks chunks(allocations.size(), 4096);
  team->ForEach(chunks.count(), [&](size_t chunk, size_t) {
    for (size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      if (Row(allocations.track[i]) >= trace.tracks().size()) continue;
      const int64_t row = innermost.At(Row(allocations.track[i]), allocations.time[i]);
      if (row >= 0) spans[i] = SpanId{static_cast<uint32_t>(row)};
    }
  });
  return spans;
}

SpanMeasures MeasureSpans(const Trace& trace, uint32_t max_threads, size_t chunk_size) {
  const RowChunks chunks(trace.spans().size(), chunk_size);
  ThreadTeam team(chunks.Members(max_threads));
  const DeviceLaunches launches(trace);
  SpanMeasures measures;
  measures.self_ns.resize(chunks.rows);
  if (launches.has_device()) {
    measures.device_self_ns.resize(chunks.rows);
    measures.device_total_ns.resize(chunks.rows);
  }
  const bool has_memory = trace.allocations().size() > 0;
  std::vector<int64_t> ends(has_memory ? chunks.rows : 0);
  MeasureVisitor visitor(trace, launches, &ends, &measures);
  std::vector<WalkedRows> walked(chunks.count());
  InOrder order(walked.size());
  SpansCrossingChunks across;
  const auto complete = [&](const OpenSpan& span) { visitor.Complete(span); };
  team.ForEach(chunks.count(), [&](size_t chunk, size_t) {
    walked[chunk] = SpanWalk(trace, &visitor).Walk(chunks.begin(chunk), chunks.end(chunk));
    order.Finished(chunk, [&](size_t next) { across.Add(std::exchange(walked[next], {}), complete); });
  });
  across.End(complete);
  if (has_memory) MeasureMemory(trace, ends, &team, &measures);
  return measures;
}

}  // namespace opscope

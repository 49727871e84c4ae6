// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_spans.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "export/opscope_values.h"
#include "wire/schema.h"
#include "wire/span_times.h"
#include "wire/table_block.h"

namespace opscope {
namespace {

constexpr int64_t kSliceNs = 1'000'000'000;

// Rows of one track that are still to be written.
struct Cursor {
  uint32_t track = 0;
  bool is_async = false;
  size_t next = 0;
  size_t end = 0;
};

struct Segment {
  uint32_t track = 0;
  bool is_async = false;
  size_t first = 0;
  size_t rows = 0;
};

std::vector<Cursor> MakeCursors(const Trace& trace) {
  const TrackColumns& tracks = trace.tracks();
  const std::span<const uint8_t> flags = trace.spans().flags;
  std::vector<Cursor> cursors;
  for (uint32_t track = 0; track < tracks.size(); ++track) {
    const size_t first = tracks.first_span[track], end = first + tracks.span_count[track];
    const auto async = static_cast<size_t>(std::find_if(flags.begin() + static_cast<ptrdiff_t>(first),
                                                        flags.begin() + static_cast<ptrdiff_t>(end),
                                                        [](uint8_t flag) { return (flag & span_flags::kAsync) != 0; }) -
                                           flags.begin());
    if (async > first) cursors.push_back({track, false, first, async});
    if (end > async) cursors.push_back({track, true, async, end});
  }
  return cursors;
}

// Takes the next slice; advances the cursors and drops finished ones.
std::vector<Segment> TakeSlice(std::span<const Timestamp> start, std::vector<Cursor>* cursors) {
  int64_t first = INT64_MAX;
  for (const Cursor& cursor : *cursors)
    first = std::min(first, start[cursor.next].ns);
  const int64_t limit = first > INT64_MAX - kSliceNs ? INT64_MAX : first + kSliceNs;
  std::vector<Segment> segments;
  size_t room = kMaxRowsPerBlock;
  for (Cursor& cursor : *cursors) {
    const size_t begin = cursor.next;
    const size_t end = std::min(cursor.end, begin + room);
    // A row at the very end of time is taken too, or the loop above would never finish.
    while (cursor.next < end && (start[cursor.next].ns < limit || limit == INT64_MAX))
      ++cursor.next;
    if (cursor.next == begin) continue;
    room -= cursor.next - begin;
    segments.push_back({cursor.track, cursor.is_async, begin, cursor.next - begin});
  }
  std::erase_if(*cursors, [](const Cursor& cursor) { return cursor.next == cursor.end; });
  return segments;
}

void AddTimes(const SpanColumns& spans, std::span<const Segment> segments, TableBlockWriter* block) {
  EdgeGaps gaps;
  std::vector<uint64_t> depths, async_start, async_duration, base;
  for (const Segment& segment : segments) {
    base.push_back(WireValue(spans.start[segment.first]));
    const std::vector<uint64_t> start = WireValues(spans.start, segment.first, segment.rows);
    const std::vector<uint64_t> duration = WireValues(spans.duration, segment.first, segment.rows);
    if (segment.is_async) {
      async_start.insert(async_start.end(), start.begin(), start.end());
      async_duration.insert(async_duration.end(), duration.begin(), duration.end());
      continue;
    }
    const std::vector<uint64_t> depth = WireValues(spans.depth, segment.first, segment.rows);
    AppendEdgeGaps(depth, start, duration, base.back(), &gaps);
    depths.insert(depths.end(), depth.begin(), depth.end());
  }
  block->Add(wire::span::kSegmentBase, base, Transform::kDelta);
  block->AddUnless(0, wire::span::kDepth, depths, Transform::kPlain);
  const auto add_gaps = [&](uint32_t column, std::span<const uint64_t> values) {
    if (!values.empty()) block->Add(column, values, Transform::kSigned);
  };
  add_gaps(wire::span::kStartAfterStart, gaps.gaps[0][0]);
  add_gaps(wire::span::kEndAfterStart, gaps.gaps[0][1]);
  add_gaps(wire::span::kStartAfterEnd, gaps.gaps[1][0]);
  add_gaps(wire::span::kEndAfterEnd, gaps.gaps[1][1]);
  if (async_start.empty()) return;
  block->Add(wire::span::kAsyncStart, async_start, Transform::kDelta);
  block->Add(wire::span::kAsyncDuration, async_duration, Transform::kPlain);
}

template <typename T>
void AddRows(uint64_t absent, uint32_t column, std::span<const T> values, std::span<const Segment> segments,
             Transform transform, TableBlockWriter* block) {
  std::vector<uint64_t> rows;
  for (const Segment& segment : segments) {
    const std::vector<uint64_t> part = WireValues(values, segment.first, segment.rows);
    rows.insert(rows.end(), part.begin(), part.end());
  }
  block->AddUnless(absent, column, rows, transform);
}

std::string EncodeSlice(const SpanColumns& spans, std::span<const Segment> segments) {
  TableBlockWriter block(wire::kSpans);
  std::vector<uint64_t> track, is_async, rows, first_row;
  for (const Segment& segment : segments) {
    track.push_back(segment.track);
    is_async.push_back(segment.is_async ? 1 : 0);
    rows.push_back(segment.rows);
    first_row.push_back(segment.first);
  }
  block.Add(wire::span::kSegmentTrack, track, Transform::kDelta);
  block.AddUnless(0, wire::span::kSegmentAsync, is_async, Transform::kPlain);
  block.Add(wire::span::kSegmentRows, rows, Transform::kPlain);
  block.Add(wire::span::kSegmentFirstRow, first_row, Transform::kDelta);
  AddTimes(spans, segments, &block);
  const auto add = [&](uint64_t absent, uint32_t column, auto values, Transform transform) {
    AddRows(absent, column, values, segments, transform, &block);
  };
  add(wire::kNoId, wire::span::kName, spans.name, Transform::kPlain);
  add(wire::kNoId, wire::span::kOverload, spans.overload, Transform::kPlain);
  add(wire::kNoId, wire::span::kCategory, spans.category, Transform::kPlain);
  add(0, wire::span::kFlags, spans.flags, Transform::kPlain);
  add(WireValue(ScopeType::kUnknown), wire::span::kScope, spans.scope, Transform::kPlain);
  add(wire::kMinusOne, wire::span::kSequence, spans.sequence, Transform::kSparseDelta);
  add(0, wire::span::kForwardThread, spans.forward_thread, Transform::kPlain);
  add(0, wire::span::kCorrelation, spans.correlation, Transform::kDelta);
  add(0, wire::span::kExternalId, spans.external_id, Transform::kDelta);
  add(wire::kNoId, wire::span::kArgs, spans.args, Transform::kPlain);
  add(wire::kNoId, wire::span::kStack, spans.stack, Transform::kPlain);
  add(wire::kNoId, wire::span::kExtra, spans.extra, Transform::kPlain);
  return block.Finish();
}

FooterBlock DescribeSlice(const SpanColumns& spans, std::span<const Segment> segments) {
  FooterBlock block;
  block.table = wire::kSpans;
  block.first_ns = INT64_MAX;
  block.last_ns = INT64_MIN;
  for (const Segment& segment : segments) {
    block.rows += segment.rows;
    for (const Timestamp start : spans.start.subspan(segment.first, segment.rows)) {
      block.first_ns = std::min(block.first_ns, start.ns);
      block.last_ns = std::max(block.last_ns, start.ns);
    }
  }
  return block;
}

// start + duration, at most the largest time there is.
int64_t EndOf(const SpanColumns& spans, size_t row) {
  int64_t end = 0;
  return __builtin_add_overflow(spans.start[row].ns, spans.duration[row].ns, &end) ? INT64_MAX : end;
}

// Duration without the direct children, each cut at its parent's end.
std::vector<int64_t> SelfTimes(const SpanColumns& spans) {
  std::vector<int64_t> self(spans.size());
  for (size_t row = 0; row < spans.size(); ++row)
    self[row] = spans.duration[row].ns;
  for (size_t row = 0; row < spans.size(); ++row) {
    if (spans.parent[row] == SpanId::kNone) continue;
    const size_t parent = Row(spans.parent[row]);
    const int64_t end = std::min(EndOf(spans, row), EndOf(spans, parent));
    const int64_t inside = std::max<int64_t>(0, (Timestamp{end} - spans.start[row]).ns);
    self[parent] = (Timestamp{self[parent]} - Timestamp{inside}).ns;  // hostile children may add up to any number
  }
  return self;
}

}  // namespace

void WriteSpanBlocks(const Trace& trace, const SpanBlockSink& sink) {
  std::vector<Cursor> cursors = MakeCursors(trace);
  while (!cursors.empty()) {
    const std::vector<Segment> segments = TakeSlice(trace.spans().start, &cursors);
    sink(EncodeSlice(trace.spans(), segments), DescribeSlice(trace.spans(), segments));
  }
}

std::vector<FooterSum> SumByName(const SpanColumns& spans) {
  const std::vector<int64_t> self = SelfTimes(spans);
  std::vector<FooterSum> sums;
  tsl::robin_map<uint64_t, size_t, MixedHash> row_of;
  for (size_t row = 0; row < spans.size(); ++row) {
    const uint64_t key = static_cast<uint64_t>(Row(spans.name[row])) << 32 | Row(spans.category[row]);
    const auto [found, added] = row_of.try_emplace(key, sums.size());
    if (added) {
      sums.push_back({.name = Row(spans.name[row]),
                      .category = Row(spans.category[row]),
                      .min_ns = INT64_MAX,
                      .max_ns = INT64_MIN});
    }
    FooterSum& sum = sums[found->second];
    const int64_t duration = spans.duration[row].ns;
    ++sum.count;
    sum.total_ns = (Timestamp{sum.total_ns} + Duration{duration}).ns;
    sum.self_ns = (Timestamp{sum.self_ns} + Duration{self[row]}).ns;
    sum.min_ns = std::min(sum.min_ns, duration);
    sum.max_ns = std::max(sum.max_ns, duration);
  }
  std::sort(sums.begin(), sums.end(), [](const FooterSum& a, const FooterSum& b) {
    return a.name != b.name ? a.name < b.name : a.category < b.category;
  });
  return sums;
}

}  // namespace opscope

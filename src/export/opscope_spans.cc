// Encodes spans as slices of at most one second and 65,536 rows, so that a truncated file loses at most the last slice.
// Within a slice the spans of a track are one segment in pre-order. Times are stored not as start and end but as gaps
// between consecutive edges (AppendEdgeGaps): neighbours are microseconds apart, so a gap takes one or two bytes where
// an absolute time takes eight.
//
//   a [0, 90)  b [10, 40)  c [50, 80)     gaps: b starts 10 after a's start, c starts 10 after b's end,
//                                         a ends 10 after c's end
//
// SumByName computes the sums per name and category that the footer holds, so that a reader can summarize a file
// without decoding its spans.
// SPDX-License-Identifier: Apache-2.0
#include "export/opscope_spans.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/column.h"
#include "base/hash.h"
#include "base/saturating.h"
#include "export/span_lanes.h"
#include "wire/schema.h"
#include "wire/wire_values.h"

namespace opscope {
namespace {

constexpr int64_t kSliceNs = 1'000'000'000;

// The rows of one track that are not yet in a slice.
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

// Cuts slices off. The cursors are a heap, the earliest next row on top: looking at all of them for each slice would
// take quadratic time where many threads have few spans each.
class SliceCutter {
 public:
  SliceCutter(std::span<const Timestamp> start, std::vector<Cursor> cursors)
      : start_(start), heap_(std::move(cursors)) {
    std::make_heap(heap_.begin(), heap_.end(), later_);
  }

  bool is_done() const { return heap_.empty(); }

  // The next slice, by track. REQUIRES: !is_done()
  std::vector<Segment> Next() {
    const int64_t limit = SaturatingAdd(start_[heap_.front().next].ns, kSliceNs);
    // A row at INT64_MAX is taken too, or the caller's loop would never end.
    const auto is_in_slice = [&](size_t row) { return start_[row].ns < limit || limit == INT64_MAX; };
    std::vector<Cursor> due;
    while (!heap_.empty() && is_in_slice(heap_.front().next)) {
      std::pop_heap(heap_.begin(), heap_.end(), later_);
      due.push_back(heap_.back());
      heap_.pop_back();
    }
    std::sort(due.begin(), due.end(), [](const Cursor& a, const Cursor& b) {
      return a.track != b.track ? a.track < b.track : a.is_async < b.is_async;
    });
    std::vector<Segment> segments;
    size_t room = kMaxRowsPerBlock;
    for (Cursor& cursor : due) {
      const size_t begin = cursor.next;
      const size_t end = std::min(cursor.end, begin + room);
      while (cursor.next < end && is_in_slice(cursor.next))
        ++cursor.next;
      room -= cursor.next - begin;
      if (cursor.next != begin) segments.push_back({cursor.track, cursor.is_async, begin, cursor.next - begin});
      if (cursor.next == cursor.end) continue;
      heap_.push_back(cursor);
      std::push_heap(heap_.begin(), heap_.end(), later_);
    }
    return segments;
  }

 private:
  struct Later {
    std::span<const Timestamp> start;
    bool operator()(const Cursor& a, const Cursor& b) const { return start[a.next] > start[b.next]; }
  };

  std::span<const Timestamp> start_;
  std::vector<Cursor> heap_;
  const Later later_{start_};
};

void AddTimes(const SpanColumns& spans, std::span<const Segment> segments, TableBlockWriter* block, SliceTimes* times) {
  times->Clear();
  std::vector<uint64_t> base;
  for (const Segment& segment : segments) {
    base.push_back(WireValue(spans.start[segment.first]));
    const auto append = [&segment](auto column, std::vector<uint64_t>* values) {
      const size_t before = values->size();
      values->resize(before + segment.rows);
      CopyWireValues(column.subspan(segment.first, segment.rows), values->data() + before);
      return std::span<const uint64_t>(*values).subspan(before);
    };
    if (segment.is_async) {
      append(spans.start, &times->async_start);
      append(spans.duration, &times->async_duration);
      continue;
    }
    times->start.clear();
    times->duration.clear();
    AppendEdgeGaps(append(spans.depth, &times->depth), append(spans.start, &times->start),
                   append(spans.duration, &times->duration), base.back(), &times->gaps);
  }
  block->Add(wire::span::kSegmentBase, base, ColumnEncoding::kDelta);
  block->AddUnless(0, wire::span::kDepth, times->depth, ColumnEncoding::kPlain);
  const auto add_gaps = [&](uint32_t column, std::span<const uint64_t> values) {
    if (!values.empty()) block->Add(column, values, ColumnEncoding::kSigned);
  };
  const EdgeGaps& gaps = times->gaps;
  add_gaps(wire::span::kStartAfterStart, gaps.gaps[0][0]);
  add_gaps(wire::span::kEndAfterStart, gaps.gaps[0][1]);
  add_gaps(wire::span::kStartAfterEnd, gaps.gaps[1][0]);
  add_gaps(wire::span::kEndAfterEnd, gaps.gaps[1][1]);
  if (times->async_start.empty()) return;
  block->Add(wire::span::kAsyncStart, times->async_start, ColumnEncoding::kDelta);
  block->Add(wire::span::kAsyncDuration, times->async_duration, ColumnEncoding::kPlain);
}

template <typename T>
void AddRows(uint64_t absent, uint32_t column, std::span<const T> values, std::span<const Segment> segments,
             ColumnEncoding encoding, TableBlockWriter* block) {
  size_t rows = 0;
  bool all_absent = true;
  for (const Segment& segment : segments) {
    rows += segment.rows;
    all_absent = all_absent && AllAre(absent, values.subspan(segment.first, segment.rows));
  }
  if (all_absent) return;
  uint64_t* at = block->Scratch(rows).data();
  for (const Segment& segment : segments) {
    CopyWireValues(values.subspan(segment.first, segment.rows), at);
    at += segment.rows;
  }
  block->AddScratch(column, rows, encoding);
}

// own_kinds: kinds are stored, because category and name do not determine them.
void EncodeSlice(const SpanColumns& spans, bool own_kinds, std::span<const Segment> segments, BlockMaker* maker) {
  TableBlockWriter& block = maker->table;
  block.Restart(SpanDescription::kNumber);
  std::vector<uint64_t> track, is_async, rows, first_row;
  for (const Segment& segment : segments) {
    track.push_back(segment.track);
    is_async.push_back(segment.is_async ? 1 : 0);
    rows.push_back(segment.rows);
    first_row.push_back(segment.first);
  }
  block.Add(wire::span::kSegmentTrack, track, ColumnEncoding::kDelta);
  block.AddUnless(0, wire::span::kSegmentAsync, is_async, ColumnEncoding::kPlain);
  block.Add(wire::span::kSegmentRows, rows, ColumnEncoding::kPlain);
  block.Add(wire::span::kSegmentFirstRow, first_row, ColumnEncoding::kDelta);
  AddTimes(spans, segments, &block, &maker->times);
  SpanDescription::ForEach(
      [&]<typename Column>(Column column, const auto& values) {
        if constexpr (std::is_same_v<Column, columns::spans::kind>) {
          constexpr uint64_t kNoKind = 0xff;  // no span has it, so the column is always written
          if (own_kinds) AddRows(kNoKind, column.kNumber, values, segments, column.kEncoding, &block);
        } else if constexpr (column.kNumber != 0) {
          AddRows(AbsentValue<Column>(), column.kNumber, values, segments, column.kEncoding, &block);
        }
      },
      spans);
  maker->FinishTable();
}

// Fills in the first and the last start time.
void DescribeSlice(const SpanColumns& spans, std::span<const Segment> segments, FooterBlock* block) {
  block->first_ns = INT64_MAX;
  block->last_ns = INT64_MIN;
  for (const Segment& segment : segments) {
    for (const Timestamp start : spans.start.subspan(segment.first, segment.rows)) {
      block->first_ns = std::min(block->first_ns, start.ns);
      block->last_ns = std::max(block->last_ns, start.ns);
    }
  }
}

}  // namespace

void PlanSpanBlocks(const Trace& trace, std::vector<PlannedBlock>* blocks) {
  const SpanColumns& spans = trace.spans();
  const bool own_kinds = trace.has_explicit_kinds();
  SliceCutter cutter(spans.start, MakeCursors(trace));
  while (!cutter.is_done()) {
    std::vector<Segment> segments = cutter.Next();
    size_t rows = 0;
    for (const Segment& segment : segments)
      rows += segment.rows;
    blocks->push_back(
        {.rows = rows,
         .table = SpanDescription::kNumber,
         .make = [&spans, own_kinds, segments = std::move(segments)](BlockMaker* maker, FooterBlock* footer) {
           DescribeSlice(spans, segments, footer);
           EncodeSlice(spans, own_kinds, segments, maker);
         }});
  }
}

std::vector<FooterSum> SumByName(const SpanColumns& spans) {
  std::vector<FooterSum> sums;
  tsl::robin_map<uint64_t, uint32_t, MixedHash> number_of;
  Column<uint32_t> sum_of;  // by row
  sum_of.reserve(spans.size());
  uint64_t last_key = 0;
  uint32_t last_sum = 0;
  for (size_t row = 0; row < spans.size(); ++row) {
    const uint64_t key = static_cast<uint64_t>(Row(spans.name[row])) << 32 | Row(spans.category[row]);
    if (row == 0 || key != last_key) {
      const auto [found, added] = number_of.try_emplace(key, static_cast<uint32_t>(sums.size()));
      if (added) {
        sums.push_back({.name = Row(spans.name[row]),
                        .category = Row(spans.category[row]),
                        .min_ns = INT64_MAX,
                        .max_ns = INT64_MIN});
      }
      last_key = key;
      last_sum = found->second;
    }
    sum_of.append_reserved(last_sum);
    FooterSum& sum = sums[last_sum];
    const Duration duration = spans.duration[row];
    ++sum.count;
    sum.total_ns = SaturatingAdd(sum.total_ns, duration.ns);
    sum.self_ns = SaturatingAdd(sum.self_ns, duration.ns);
    sum.min_ns = std::min(sum.min_ns, duration.ns);
    sum.max_ns = std::max(sum.max_ns, duration.ns);
  }
  // Subtracts direct children, each clipped at its parent's end.
  for (uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.parent[row] == SpanId::kNone) continue;
    const uint32_t parent = Row(spans.parent[row]);
    const Timestamp end = std::min(EndOf(spans, row), EndOf(spans, parent));
    FooterSum& sum = sums[sum_of[parent]];
    sum.self_ns =
        SaturatingSubtract(sum.self_ns, std::max<int64_t>(0, SaturatingSubtract(end.ns, spans.start[row].ns)));
  }
  std::sort(sums.begin(), sums.end(), [](const FooterSum& a, const FooterSum& b) {
    return a.name != b.name ? a.name < b.name : a.category < b.category;
  });
  return sums;
}

}  // namespace opscope

// Spans are read in parallel without a sort, in two steps. First all segments are ordered by track and kind, nested
// before async, stably in the order of the file; a running sum gives each its first row. Then several threads decode
// blocks directly to their rows. A damaged block would leave a gap, so in that rare case everything is placed and
// decoded again without it.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_spans.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_span_rows.h"
#include "wire/schema.h"

namespace opscope {

bool ColumnSpans::ReadSegments(WaitingBlock* block) const {
  const size_t count = block->table.rows(wire::span::kSegmentTrack);
  const auto read = [&](uint32_t column, std::vector<uint64_t>* values) {
    return block->table.Read(column, count, 0, values);
  };
  std::vector<uint64_t> track, is_async, rows, base, first_row;
  if (!read(wire::span::kSegmentTrack, &track) || !read(wire::span::kSegmentAsync, &is_async) ||
      !read(wire::span::kSegmentRows, &rows) || !read(wire::span::kSegmentBase, &base) ||
      !read(wire::span::kSegmentFirstRow, &first_row)) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (rows[i] > kMaxRowsPerBlock - block->rows || track[i] > kMaxRow) return false;
    block->rows += static_cast<size_t>(rows[i]);
    if (is_async[i] == 0) block->nested_rows += static_cast<size_t>(rows[i]);
    block->segments.push_back({.stored_track = track[i] + 1,
                               .is_async = is_async[i] != 0,
                               .rows = static_cast<size_t>(rows[i]),
                               .base = base[i],
                               .first_row = first_row[i]});
  }
  return true;
}

bool ColumnSpans::Add(const TablePayload& payload) {
  WaitingBlock block;
  block.offset = payload.offset;
  if (!payload.stays) block.kept.assign(payload.bytes.begin(), payload.bytes.end());
  if (!block.table.Parse(payload.stays ? payload.bytes : block.kept) || !ReadSegments(&block)) return false;
  // Check that every column has as many rows as the segments claim, before memory is allocated for them.
  const auto has = [&block](uint32_t column, size_t rows) {
    return !block.table.has(column) || block.table.rows(column) == rows;
  };
  bool has_sound_columns = true;
  SpanDescription::ForEach(
      [&](auto column) { has_sound_columns &= column.kNumber == 0 || has(column.kNumber, block.rows); });
  const size_t async_rows = block.rows - block.nested_rows;
  if (!has(wire::span::kDepth, block.nested_rows) || !has(wire::span::kAsyncStart, async_rows) ||
      !has(wire::span::kAsyncDuration, async_rows) || !has_sound_columns ||
      builder_->span_count() + rows_ + block.rows > kMaxRow) {
    return false;
  }
  rows_ += block.rows;
  waiting_.push_back(std::move(block));
  return true;
}

uint64_t ColumnSpans::memory_bytes() const {
  constexpr uint64_t kBytesOfRow = 77;  // with all columns
  return rows_ * kBytesOfRow;
}

SpanFields ColumnSpans::FieldsOfAll() const {
  const auto any = [this](uint32_t column) {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& block) { return block.table.has(column); });
  };
  SpanFields fields;
  SpanDescription::ForEach(
      [&](auto column, bool& is_wanted) { is_wanted = column.kNumber != 0 && any(column.kNumber); }, fields);
  fields.flags |= std::any_of(waiting_.begin(), waiting_.end(),
                              [](const WaitingBlock& block) { return block.rows > block.nested_rows; });
  return fields;
}

// Assigns rows to the segments: by track, nested spans first, else in the order of the file. Returns the number of rows.
// Drops blocks whose tracks do not exist.
size_t ColumnSpans::PlaceSegments(const TrackOf& track_of, std::vector<int64_t>* damaged) {
  for (WaitingBlock& block : waiting_) {
    for (Segment& segment : block.segments) {
      segment.track = track_of(segment.stored_track);
      block.damaged |= segment.track == TrackId::kNone;
    }
  }
  DropDamaged(damaged);
  std::vector<Segment*> in_order;
  for (WaitingBlock& block : waiting_) {
    for (Segment& segment : block.segments)
      in_order.push_back(&segment);
  }
  std::stable_sort(in_order.begin(), in_order.end(), [](const Segment* a, const Segment* b) {
    return std::tie(a->track, a->is_async) < std::tie(b->track, b->is_async);
  });
  size_t rows = 0;
  for (Segment* segment : in_order) {
    segment->added = rows;
    rows += segment->rows;
  }
  return rows;
}

bool ColumnSpans::DropDamaged(std::vector<int64_t>* damaged) {
  const auto drop = [damaged](const WaitingBlock& block) {
    if (block.damaged) damaged->push_back(block.offset);
    return block.damaged;
  };
  return std::erase_if(waiting_, drop) != 0;
}

void ColumnSpans::Decode(const Ids& ids, const SpanMemory& to) {
  std::vector<SpanRowReader> readers(team_->size());
  team_->ForEach(waiting_.size(), [&](size_t block, size_t member) {
    waiting_[block].damaged = !readers[member].Read(ids, to, &waiting_[block]);
  });
}

void ColumnSpans::AddAll(const Ids& ids, const TrackOf& track_of, const AddRun& add_run,
                         std::vector<int64_t>* damaged) {
  const auto first = static_cast<uint32_t>(builder_->span_count());
  const SpanFields fields = FieldsOfAll();
  while (true) {
    const size_t rows = PlaceSegments(track_of, damaged);
    if (rows == 0) break;
    Decode(ids, builder_->AppendSpanRows(rows, fields));
    if (!DropDamaged(damaged)) break;
    builder_->DropSpanRows(rows);  // decode the others again, because no row may be without a span
  }
  uint64_t negative_durations = 0;
  for (const WaitingBlock& block : waiting_) {
    negative_durations += block.negative_durations;
    for (const Segment& segment : block.segments)
      add_run(segment.first_row, segment.rows, first + static_cast<uint32_t>(segment.added));
  }
  if (negative_durations > 0) builder_->AddProblem("negative_duration", -1, negative_durations);
  waiting_.clear();
  rows_ = 0;
}

}  // namespace opscope

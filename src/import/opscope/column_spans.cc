// Two steps make a parallel read without a sort. First all segments are ordered by track and kind, nested before async,
// stably in the order in which they came; a running sum gives each its first row. Then blocks are decoded by several
// threads, each straight to its rows. A block that turns out to be damaged leaves a hole, so everything is placed and
// decoded again without it; that is rare, and costs a second pass only then.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_spans.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "import/opscope/column_reader.h"
#include "import/opscope/column_span_rows.h"
#include "wire/schema.h"

namespace opscope {
namespace {

// Of one column of all the segments.
bool ReadSmall(const TableBlock& table, uint32_t column, size_t rows, std::vector<uint64_t>* values) {
  return table.Read(column, rows, 0, values);
}

}  // namespace

bool ColumnSpans::ReadSegments(WaitingBlock* block) const {
  const size_t count = block->table.rows(wire::span::kSegmentTrack);
  std::vector<uint64_t> track, is_async, rows, base, first_row;
  if (!ReadSmall(block->table, wire::span::kSegmentTrack, count, &track) ||
      !ReadSmall(block->table, wire::span::kSegmentAsync, count, &is_async) ||
      !ReadSmall(block->table, wire::span::kSegmentRows, count, &rows) ||
      !ReadSmall(block->table, wire::span::kSegmentBase, count, &base) ||
      !ReadSmall(block->table, wire::span::kSegmentFirstRow, count, &first_row)) {
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
  // Nothing is made room for that has fewer rows than it says.
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

// Gives each segment its rows: by track, nested ones first, in the order in which they came. Returns how many there
// are; drops blocks of tracks that cannot be.
size_t ColumnSpans::PlaceSegments(const TrackOf& track_of, std::vector<int64_t>* damaged) {
  for (WaitingBlock& block : waiting_) {
    for (Segment& segment : block.segments) {
      segment.track = track_of(segment.stored_track);
      block.damaged |= segment.track == TrackId::kNone;
    }
    if (block.damaged) damaged->push_back(block.offset);
  }
  std::erase_if(waiting_, [](const WaitingBlock& block) { return block.damaged; });
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

void ColumnSpans::Decode(const Ids& ids, const SpanMemory& to) {
  std::vector<SpanRowReader> readers(team_->size());
  team_->ForEach(waiting_.size(),
                 [&](size_t block, size_t member) { readers[member].Read(ids, to, &waiting_[block]); });
}

void ColumnSpans::AddAll(const Ids& ids, const TrackOf& track_of, const AddRun& add_run,
                         std::vector<int64_t>* damaged) {
  const auto first = static_cast<uint32_t>(builder_->span_count());
  const auto is_damaged = [](const WaitingBlock& block) { return block.damaged; };
  const SpanFields fields = FieldsOfAll();
  while (true) {
    const size_t rows = PlaceSegments(track_of, damaged);
    if (rows == 0) break;
    Decode(ids, builder_->AppendSpanRows(rows, fields));
    if (std::none_of(waiting_.begin(), waiting_.end(), is_damaged)) break;
    builder_->DropSpanRows(rows);  // and again without those that are damaged, so that no rows are left empty
    for (const WaitingBlock& block : waiting_) {
      if (block.damaged) damaged->push_back(block.offset);
    }
    std::erase_if(waiting_, is_damaged);
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

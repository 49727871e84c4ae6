// A block has its rows by track (segments), and the place of each segment in the Trace is known. Columns are decoded
// one after the other into one buffer, then copied to the rows of the segments. Times are stored as gaps between edges
// (starts and ends in order, see wire/FORMAT.md), with depths that determine which edge comes next; they are decoded
// per segment.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_span_rows.h"

#include <algorithm>
#include <type_traits>

#include "import/opscope/column_reader.h"
#include "wire/schema.h"

namespace opscope {
namespace {

// Writes convert(value) for each row of the block to its place.
template <typename T, typename Convert>
void Place(std::span<const ColumnSpans::Segment> segments, const uint64_t* values, T* to, Convert convert) {
  for (const ColumnSpans::Segment& segment : segments) {
    T* const rows = to + segment.added;
    for (size_t i = 0; i < segment.rows; ++i)
      rows[i] = convert(values[i]);
    values += segment.rows;
  }
}

template <typename T>
void PlaceOne(std::span<const ColumnSpans::Segment> segments, T value, T* to) {
  for (const ColumnSpans::Segment& segment : segments)
    std::fill_n(to + segment.added, segment.rows, value);
}

// Converts a stored number, plus one, to an id; `none` for 0 and unknown numbers.
template <typename Id>
auto IdIn(std::span<const Id> ids, Id none) {
  return [ids, none](uint64_t stored) { return stored - 1 < ids.size() ? ids[stored - 1] : none; };
}

}  // namespace

bool SpanRowReader::ReadInto(const TableBlock& table, uint32_t column, size_t rows, std::vector<uint64_t>* values) {
  values->resize(rows);
  if (table.has(column)) return table.Read(column, *values, &decoder_);
  std::fill(values->begin(), values->end(), 0);
  return true;
}

bool SpanRowReader::ReadTimes(const SpanMemory& to, ColumnSpans::WaitingBlock* block) {
  const TableBlock& table = block->table;
  const size_t async_rows = block->rows - block->nested_rows;
  const auto read_gaps = [&](uint32_t column, std::vector<uint64_t>* gaps) {
    return ReadInto(table, column, table.rows(column), gaps);
  };
  if (!ReadInto(table, wire::span::kDepth, block->nested_rows, &depth_) ||
      !ReadInto(table, wire::span::kAsyncStart, async_rows, &async_start_) ||
      !ReadInto(table, wire::span::kAsyncDuration, async_rows, &async_duration_) ||
      !read_gaps(wire::span::kStartAfterStart, &gaps_.gaps[0][0]) ||
      !read_gaps(wire::span::kEndAfterStart, &gaps_.gaps[0][1]) ||
      !read_gaps(wire::span::kStartAfterEnd, &gaps_.gaps[1][0]) ||
      !read_gaps(wire::span::kEndAfterEnd, &gaps_.gaps[1][1])) {
    return false;
  }
  start_.resize(block->rows), duration_.resize(block->rows);
  EdgeGapReader reader(&gaps_);
  size_t row = 0, nested = 0, async = 0;
  for (const ColumnSpans::Segment& segment : block->segments) {
    const auto starts = std::span(start_).subspan(row, segment.rows);
    const auto durations = std::span(duration_).subspan(row, segment.rows);
    uint16_t* const depths = to.depth + segment.added;
    if (segment.is_async) {
      std::copy_n(async_start_.begin() + static_cast<ptrdiff_t>(async), segment.rows, starts.begin());
      std::copy_n(async_duration_.begin() + static_cast<ptrdiff_t>(async), segment.rows, durations.begin());
      std::fill_n(depths, segment.rows, uint16_t{0});
      async += segment.rows;
    } else {
      const auto stored = std::span<const uint64_t>(depth_).subspan(nested, segment.rows);
      if (!reader.Read(stored, segment.base, starts, durations)) return false;
      std::transform(stored.begin(), stored.end(), depths, [](uint64_t depth) { return static_cast<uint16_t>(depth); });
      nested += segment.rows;
    }
    row += segment.rows;
  }
  if (!reader.at_end()) return false;
  Place(block->segments, start_.data(), to.start, [](uint64_t stored) { return Timestamp{Signed(stored)}; });
  uint64_t negative = 0;
  Place(block->segments, duration_.data(), to.duration, [&negative](uint64_t stored) {
    negative += stored >> 63;
    return Duration{std::max<int64_t>(0, Signed(stored))};
  });
  block->negative_durations = negative;
  return true;
}

bool SpanRowReader::Read(const ColumnSpans::Ids& ids, const SpanMemory& to, ColumnSpans::WaitingBlock* block) {
  if (!ReadTimes(to, block)) return false;
  const std::span<const ColumnSpans::Segment> segments = block->segments;
  bool ok = true;
  // Fills the rows of a block without the column with `none`; does nothing if no block has the column.
  const auto place = [&](uint32_t column, auto* rows, auto none, auto convert) {
    if (rows == nullptr || !ok) return;
    if (!block->table.has(column)) return PlaceOne(segments, none, rows);
    values_.resize(block->rows);
    ok = block->table.Read(column, values_, &decoder_);
    if (ok) Place(segments, values_.data(), rows, convert);
  };
  SpanDescription::ForEach(
      [&]<typename Column, typename T>(Column column, T* rows) {
        if constexpr (column.kNumber == 0) {
          return;
        } else if constexpr (std::is_same_v<T, StringId>) {
          place(column.kNumber, rows, StringId::kNone, ids.strings);
        } else if constexpr (std::is_same_v<T, ArgsId>) {
          place(column.kNumber, rows, ArgsId::kNone, IdIn(ids.arguments, ArgsId::kNone));
        } else if constexpr (std::is_same_v<T, StackId>) {
          place(column.kNumber, rows, StackId::kNone, IdIn(ids.stacks, StackId::kNone));
        } else if constexpr (std::is_same_v<T, SpanKind>) {
          place(column.kNumber, rows, kKindOfCategory, [](uint64_t stored) {
            const bool is_other = stored == 0 || stored >= kSpanKinds;  // written by a newer version
            return is_other ? kForcedOther : static_cast<SpanKind>(stored);
          });
        } else {
          place(column.kNumber, rows, column.kDefault, [](uint64_t stored) { return static_cast<T>(stored); });
        }
      },
      to);
  for (const ColumnSpans::Segment& segment : segments) {
    std::fill_n(to.track + segment.added, segment.rows, segment.track);
    std::fill_n(to.parent + segment.added, segment.rows, SpanId::kNone);
    if (!segment.is_async) continue;
    for (size_t i = 0; i < segment.rows; ++i)
      to.flags[segment.added + i] |= span_flags::kAsync;
  }
  return ok;
}

}  // namespace opscope

// Brings spans into the order of a Trace. Importers mostly add them in that order already, so each stage
// first checks, in one pass, whether it has anything to do:
//
//   group rows by track        if they are out of order: a stable counting sort, O(n)
//   sort each track by time    if it nests by time and is out of order: a merge sort of the runs that are in order
//   move the columns           one at a time, through one spare array, so that memory grows by one column and not
//                              by all of them
//
// A table whose size is known lies in one block on huge pages; columns start at different cache sets,
// because rows are written across all columns at once.
// SPDX-License-Identifier: Apache-2.0
#include "trace/span_table.h"

#include <algorithm>
#include <functional>

#include "base/natural_sort.h"

namespace opscope {
namespace {

// Sort key of one row. Longer first, so that a parent precedes a child that starts with it.
struct SortKey {
  int64_t start;
  int64_t duration;
  uint32_t row;
  friend bool operator<(const SortKey& a, const SortKey& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.row < b.row;
  }
};

bool IsAsync(const SpanTable& table, size_t row) {
  return (table.flags[row] & span_flags::kAsync) != 0;
}

// The nested rows of track t are group 2t, its async rows group 2t + 1.
size_t GroupOf(const SpanTable& table, size_t row) {
  return 2 * size_t{Row(table.track[row])} + (IsAsync(table, row) ? 1 : 0);
}

// Counts the rows of group g at g + 1. True if the rows are sorted by group. Neighbours mostly are of one group.
bool CountGroups(const SpanTable& table, Column<uint32_t>* counts) {
  bool is_sorted = true;
  size_t group = 0;
  for (size_t row = 0, end = 0; row < table.size(); row = end) {
    const size_t next = GroupOf(table, row);
    is_sorted &= next >= group;
    group = next;
    end = row + 1;
    while (end < table.size() && GroupOf(table, end) == group)
      ++end;
    (*counts)[group + 1] += static_cast<uint32_t>(end - row);
  }
  return is_sorted;
}

// A stable counting sort of all rows by group.
Column<uint32_t> GroupRows(const SpanTable& table, std::span<const uint32_t> group_begin) {
  Column<uint32_t> next, rows;
  next.resize(group_begin.size(), 0);
  std::copy(group_begin.begin(), group_begin.end(), next.data());
  rows.resize(table.size(), 0);
  for (size_t row = 0; row < table.size(); ++row) {
    rows[next[GroupOf(table, row)]++] = static_cast<uint32_t>(row);
  }
  return rows;
}

SortKey SortKeyOf(const SpanTable& table, uint32_t row) {
  return {table.start[row].ns, table.duration[row].ns, row};
}

// Sorts rows[begin, end) by SortKey. Empty rows stand for the identity; they stay empty if they are sorted.
void SortGroup(const SpanTable& table, size_t begin, size_t end, Column<uint32_t>* rows) {
  const auto row_at = [&](size_t i) { return rows->empty() ? static_cast<uint32_t>(i) : (*rows)[i]; };
  bool sorted = true;
  for (size_t i = begin + 1; i < end && sorted; ++i) {
    sorted = !(SortKeyOf(table, row_at(i)) < SortKeyOf(table, row_at(i - 1)));
  }
  if (sorted) return;
  Column<SortKey> keys;
  keys.reserve(end - begin);
  for (size_t i = begin; i < end; ++i)
    keys.push_back(SortKeyOf(table, row_at(i)));
  // Rows come in sorted runs: the operators of a thread, then its calls of Python. std::sort would be slow on those.
  NaturalSort(&keys, std::less<>());
  if (rows->empty()) {
    rows->reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i)
      rows->push_back(static_cast<uint32_t>(i));
  }
  for (size_t i = begin; i < end; ++i)
    (*rows)[i] = keys[i - begin].row;
}

}  // namespace

void SpanTable::Reserve(size_t rows) {
  // Columns must not start at the same cache set, because they are written side by side.
  constexpr size_t kStagger = 192;
  size_t bytes = 0;
  ForEach([&](const auto& column) { bytes += rows * column.row_bytes() + kStagger; });
  if (start.capacity() > 0 || bytes < HugeBlock::kBreakEvenBytes) {
    ForEach([rows](auto& column) { column.reserve(rows); });
    return;
  }
  block = HugeBlock(bytes);
  std::byte* at = block.data();
  ForEach([&](auto& column) {
    column.Borrow(at, rows);
    at += (rows * column.row_bytes() + kStagger) & ~size_t{63};
  });
}

void SpanTable::Append(size_t rows) {
  const size_t count = size() + rows;
  if (count > start.capacity()) {
    // Geometric growth: many small additions must not copy each time. Unused capacity is never touched.
    const size_t capacity = std::max({count, start.capacity() + start.capacity() / 2, size_t{64}});
    ForEach([capacity](auto& column) { column.grow(capacity); });
  }
  ForEach([count](auto& column) { column.resize_unset(count); });
}

void SpanTable::Set(size_t at, const SpanRow& row) {
  SpanDescription::ForEach(
      [at](auto column, auto& values, const auto& value) {
        const auto converted = static_cast<typename decltype(column)::Type>(value);
        if constexpr (SparseColumn<std::remove_reference_t<decltype(values)>>) {
          values.Set(at, converted);
        } else {
          values[at] = converted;
        }
      },
      static_cast<SpanMembers&>(*this), row);
}

void SpanTable::Add(const SpanRow& row) {
  Append(1);
  Set(size() - 1, row);
}

template <typename Visit>
void SpanTable::ForEachFilled(Visit visit) {
  ForEach([&visit](auto& column) {
    if constexpr (requires { column.filled(); }) {
      if (column.is_unallocated()) return;
      visit(*column.filled());
      column.Adopt();
    } else {
      visit(column);
    }
  });
}

void SpanTable::ShrinkToFit() {
  if (!start.borrowed() || size() >= start.capacity() / 4 * 3) return;
  ForEachFilled([](auto& column) {
    std::remove_reference_t<decltype(column)> own;
    own.reserve(column.size());
    for (size_t row = 0; row < column.size(); ++row)
      own.append_reserved(column[row]);
    column.swap(own);
  });
  block = HugeBlock();
}

SpanColumns SpanTable::view() const {
  SpanColumns columns;
  SpanDescription::ForEach([this](auto, auto& view, const auto& values) { view = ViewOf(values, &constants); }, columns,
                           static_cast<const SpanMembers&>(*this));
  return columns;
}

SpanOrder OrderSpans(const SpanTable& table, std::span<const Nesting> nesting) {
  const size_t track_count = nesting.size();
  SpanOrder order;
  Column<uint32_t> group_begin;
  group_begin.resize(2 * track_count + 1, 0);
  const bool is_grouped = CountGroups(table, &group_begin);
  for (size_t group = 0; group < 2 * track_count; ++group)
    group_begin[group + 1] += group_begin[group];
  if (!is_grouped) order.source_row = GroupRows(table, group_begin.view());
  for (size_t track = 0; track < track_count; ++track) {
    const uint32_t first = group_begin[2 * track], async = group_begin[2 * track + 1], end = group_begin[2 * track + 2];
    const bool by_time = nesting[track] == Nesting::kByTime || nesting[track] == Nesting::kByTimeAsSiblings;
    if (by_time) SortGroup(table, first, async, &order.source_row);
    SortGroup(table, async, end, &order.source_row);
    order.tracks.push_back({first, async - first, end - first});
  }
  return order;
}

void ApplyOrder(std::span<const uint32_t> source_row, ThreadTeam* team, SpanTable* table) {
  if (source_row.empty()) return;
  constexpr size_t kRowsAtOnce = size_t{1} << 16;
  const size_t rows = source_row.size();
  SpareArray spare;
  const auto move = [&](auto& column) {
    using T = std::remove_cvref_t<decltype(column[0])>;
    if (spare.bytes < rows * sizeof(T) || spare.bytes % sizeof(T) != 0) spare.Resize(rows * sizeof(T));
    T* moved = static_cast<T*>(spare.data);
    team->ForEach((rows + kRowsAtOnce - 1) / kRowsAtOnce, [&](size_t part, size_t) {
      const size_t end = std::min(rows, (part + 1) * kRowsAtOnce);
      for (size_t row = part * kRowsAtOnce; row < end; ++row)
        moved[row] = column[source_row[row]];
    });
    if (column.borrowed()) {
      std::copy(moved, moved + rows, column.data());
    } else {
      column.Exchange(&spare, rows);
    }
  };
  // By width, the widest first: each column takes the memory of the previous one.
  for (const size_t width : {8u, 4u, 2u, 1u}) {
    if (spare.bytes > rows * width) spare.Resize(rows * width);
    table->ForEachFilled([&](auto& column) {
      if (column.row_bytes() == width) move(column);
    });
  }
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "trace/span_table.h"

#include <algorithm>
#include <functional>

#include "base/natural_sort.h"

namespace opscope {
namespace {

// Sort key of one row. Longer first, so that a parent precedes a child that starts with it.
struct Place {
  int64_t start;
  int64_t duration;
  uint32_t row;
  friend bool operator<(const Place& a, const Place& b) {
    if (a.start != b.start) return a.start < b.start;
    if (a.duration != b.duration) return a.duration > b.duration;
    return a.row < b.row;
  }
};

bool IsAsync(const SpanTable& table, size_t row) {
  return (table.flags[row] & span_flags::kAsync) != 0;
}

// Rows of track t: nested ones counted at 2t, async ones at 2t + 1.
size_t GroupOf(const SpanTable& table, size_t row) {
  return 2 * size_t{Row(table.track[row])} + (IsAsync(table, row) ? 1 : 0);
}

// Counts group g at g + 1. True when the rows stand in the order of their groups. Neighbours mostly are of one group.
bool CountGroups(const SpanTable& table, Column<uint32_t>* counts) {
  bool stands_in_order = true;
  size_t group = 0;
  for (size_t row = 0, end = 0; row < table.size(); row = end) {
    const size_t next = GroupOf(table, row);
    stands_in_order &= next >= group;
    group = next;
    end = row + 1;
    while (end < table.size() && GroupOf(table, end) == group)
      ++end;
    (*counts)[group + 1] += static_cast<uint32_t>(end - row);
  }
  return stands_in_order;
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

Place PlaceOf(const SpanTable& table, uint32_t row) {
  return {table.start[row].ns, table.duration[row].ns, row};
}

// Sorts rows[begin, end) by place; rows may be empty, which stands for the identity. True when it had to move any.
bool SortGroup(const SpanTable& table, size_t begin, size_t end, Column<uint32_t>* rows) {
  const auto row_at = [&](size_t i) { return rows->empty() ? static_cast<uint32_t>(i) : (*rows)[i]; };
  bool sorted = true;
  for (size_t i = begin + 1; i < end && sorted; ++i) {
    sorted = !(PlaceOf(table, row_at(i)) < PlaceOf(table, row_at(i - 1)));
  }
  if (sorted) return false;
  Column<Place> places;
  places.reserve(end - begin);
  for (size_t i = begin; i < end; ++i)
    places.push_back(PlaceOf(table, row_at(i)));
  // Rows come in runs: the operators of a thread, then its calls of Python. Sorting in halves is slow on those.
  NaturalSort(&places, std::less<>());
  if (rows->empty()) {
    rows->reserve(table.size());
    for (size_t i = 0; i < table.size(); ++i)
      rows->push_back(static_cast<uint32_t>(i));
  }
  for (size_t i = begin; i < end; ++i)
    (*rows)[i] = places[i - begin].row;
  return true;
}

}  // namespace

void SpanTable::Reserve(size_t rows) {
  // Different columns must not begin at one place of the processor's caches: they are written side by side.
  constexpr size_t kStagger = 192;
  size_t bytes = 0;
  ForEach([&](const auto& column) { bytes += rows * sizeof(column[0]) + kStagger; });
  if (start.capacity() > 0 || bytes < HugeBlock::kWorthwhile) {
    ForEach([rows](auto& column) { column.reserve(rows); });
    return;
  }
  block = HugeBlock(bytes);
  std::byte* at = block.data();
  ForEach([&](auto& column) {
    column.Borrow(at, rows);
    at += (rows * sizeof(column[0]) + kStagger) & ~size_t{63};
  });
}

void SpanTable::Grow() {
  const size_t capacity = start.capacity() < 64 ? 64 : start.capacity() + start.capacity() / 2;
  ForEach([capacity](auto& column) { column.grow(capacity); });
}

void SpanTable::Append(size_t rows) {
  const size_t count = size() + rows;
  if (count > start.capacity()) {
    // Many small additions must not copy each time; room that is not used is never touched.
    const size_t capacity = std::max(count, start.capacity() + start.capacity() / 2);
    ForEach([capacity](auto& column) { column.grow(capacity); });
  }
  ForEach([count](auto& column) { column.resize_unset(count); });
}

void SpanTable::Set(size_t at, const SpanRow& row, SpanId parent_row) {
  start[at] = row.start;
  duration[at] = row.duration;
  name[at] = row.name;
  overload[at] = row.overload;
  category[at] = row.category;
  track[at] = row.track;
  parent[at] = parent_row;
  depth[at] = row.depth;
  flags[at] = row.flags;
  scope[at] = row.scope;
  sequence[at] = row.sequence;
  forward_thread[at] = row.forward_thread;
  correlation[at] = row.correlation;
  external_id[at] = row.external_id;
  args[at] = row.args;
  stack[at] = row.stack;
  extra[at] = row.extra;
}

void SpanTable::Add(const SpanRow& row) {
  if (size() == start.capacity()) Grow();  // all columns have one capacity
  const size_t at = size();
  ForEach([at](auto& column) { column.resize_unset(at + 1); });
  Set(at, row, SpanId::kNone);
}

void SpanTable::ShrinkToFit() {
  if (!start.borrowed()) {
    ForEach([](auto& column) { column.shrink_to_fit(); });
  } else if (size() < start.capacity() / 4 * 3) {
    ForEach([](auto& column) {
      std::remove_reference_t<decltype(column)> own;
      own.reserve(column.size());
      for (size_t row = 0; row < column.size(); ++row)
        own.append_reserved(column[row]);
      column.swap(own);
    });
    block = HugeBlock();
  }
}

SpanColumns SpanTable::view() const {
  return {.start = start.view(),
          .duration = duration.view(),
          .name = name.view(),
          .overload = overload.view(),
          .category = category.view(),
          .track = track.view(),
          .parent = parent.view(),
          .depth = depth.view(),
          .flags = flags.view(),
          .scope = scope.view(),
          .sequence = sequence.view(),
          .forward_thread = forward_thread.view(),
          .correlation = correlation.view(),
          .external_id = external_id.view(),
          .args = args.view(),
          .stack = stack.view(),
          .extra = extra.view()};
}

SpanOrder OrderSpans(const SpanTable& table, std::span<const Nesting> nesting) {
  const size_t track_count = nesting.size();
  SpanOrder order;
  Column<uint32_t> group_begin;
  group_begin.resize(2 * track_count + 1, 0);
  const bool stands_in_order = CountGroups(table, &group_begin);
  for (size_t group = 0; group < 2 * track_count; ++group)
    group_begin[group + 1] += group_begin[group];
  if (!stands_in_order) order.source_row = GroupRows(table, group_begin.view());
  for (size_t track = 0; track < track_count; ++track) {
    const uint32_t first = group_begin[2 * track], async = group_begin[2 * track + 1], end = group_begin[2 * track + 2];
    const bool by_time = nesting[track] == Nesting::kByTime || nesting[track] == Nesting::kByTimeBeside;
    if (by_time) SortGroup(table, first, async, &order.source_row);
    SortGroup(table, async, end, &order.source_row);
    order.tracks.push_back({first, async - first, end - first});
  }
  return order;
}

void ApplyOrder(std::span<const uint32_t> source_row, SpanTable* table) {
  if (source_row.empty()) return;
  table->ForEach([source_row](auto& column) {
    std::remove_reference_t<decltype(column)> moved;
    moved.reserve(source_row.size());
    for (const uint32_t row : source_row)
      moved.append_reserved(column[row]);
    if (column.borrowed()) {
      std::copy(moved.data(), moved.data() + moved.size(), column.data());
    } else {
      column.swap(moved);
    }
  });
}

}  // namespace opscope

// SPDX-License-Identifier: Apache-2.0
#include "trace/span_table.h"

#include <algorithm>

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

bool StandsInGroupOrder(const SpanTable& table) {
  size_t previous = 0;
  for (size_t row = 0; row < table.size(); ++row) {
    const size_t group = GroupOf(table, row);
    if (group < previous) return false;
    previous = group;
  }
  return true;
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
  std::sort(places.data(), places.data() + places.size());
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
  ForEach([rows](auto& column) { column.reserve(rows); });
}

void SpanTable::Grow() {
  const size_t capacity = start.capacity() < 64 ? 64 : start.capacity() + start.capacity() / 2;
  ForEach([capacity](auto& column) { column.grow(capacity); });
}

void SpanTable::Add(const SpanRow& row) {
  if (size() == start.capacity()) Grow();  // all columns have one capacity
  start.append_reserved(row.start);
  duration.append_reserved(row.duration);
  name.append_reserved(row.name);
  overload.append_reserved(row.overload);
  category.append_reserved(row.category);
  track.append_reserved(row.track);
  parent.append_reserved(SpanId::kNone);
  depth.append_reserved(row.depth);
  flags.append_reserved(row.flags);
  scope.append_reserved(row.scope);
  sequence.append_reserved(row.sequence);
  forward_thread.append_reserved(row.forward_thread);
  correlation.append_reserved(row.correlation);
  external_id.append_reserved(row.external_id);
  args.append_reserved(row.args);
  stack.append_reserved(row.stack);
  extra.append_reserved(row.extra);
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

SpanOrder OrderSpans(const SpanTable& table, size_t track_count, std::span<const uint8_t> pre_ordered) {
  SpanOrder order;
  Column<uint32_t> group_begin;
  group_begin.resize(2 * track_count + 1, 0);
  for (size_t row = 0; row < table.size(); ++row)
    ++group_begin[GroupOf(table, row) + 1];
  for (size_t group = 0; group < 2 * track_count; ++group)
    group_begin[group + 1] += group_begin[group];
  if (!StandsInGroupOrder(table)) order.source_row = GroupRows(table, group_begin.view());
  for (size_t track = 0; track < track_count; ++track) {
    const uint32_t first = group_begin[2 * track], async = group_begin[2 * track + 1], end = group_begin[2 * track + 2];
    if (pre_ordered[track] == 0) SortGroup(table, first, async, &order.source_row);
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
      moved.push_back(column[row]);
    column.swap(moved);
  });
}

}  // namespace opscope

// TraceBuilder::Build, in the order of its steps: sort the spans (span_table.h), fill in kinds
// (fill_kinds.h), nest the spans of each track (nesting.h), translate row numbers of addition into final
// rows, find the spans at the ends of flows (enclosing_spans.h), find launches (launches.h), number Python
// calls (python_calls.h), freeze. Importers mostly add rows in their final order; a step that has nothing to
// do then costs one pass or less.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/thread_team.h"
#include "trace/builder.h"
#include "trace/enclosing_spans.h"
#include "trace/fill_kinds.h"
#include "trace/launches.h"
#include "trace/nesting.h"
#include "trace/pending.h"
#include "trace/problem_kinds.h"
#include "trace/python_calls.h"
#include "trace/storage.h"

namespace opscope {
namespace {

template <typename T>
std::span<T> RowsOf(Column<T>& column, const TrackRange& range) {
  return {column.data() + range.first, range.nested};
}

void NestTracks(const SpanOrder& order, std::span<const Nesting> nesting, SpanTable* spans, uint64_t* crossings) {
  for (size_t track = 0; track < order.tracks.size(); ++track) {
    const TrackRange range = order.tracks[track];
    const auto depth = RowsOf(spans->depth, range);
    const auto parent = RowsOf(spans->parent, range);
    if (nesting[track] == Nesting::kByDepth) {
      NestByDepth(range.first, depth, parent);
    } else if (nesting[track] == Nesting::kByTime) {
      *crossings +=
          NestByContainment(range.first, RowsOf(spans->start, range), RowsOf(spans->duration, range), depth, parent);
    } else if (nesting[track] == Nesting::kByTimeAsSiblings) {
      NestAsSiblings(range.first, RowsOf(spans->start, range), RowsOf(spans->duration, range), depth, parent);
    }
    for (uint32_t row = range.first + range.nested; row < range.first + range.count; ++row) {
      spans->depth[row] = 0;
      spans->parent[row] = SpanId::kNone;
    }
  }
}

// Returns the final row of each added span; empty for the identity.
Column<uint32_t> InvertOrder(std::span<const uint32_t> source_row) {
  Column<uint32_t> final_row;
  final_row.resize(source_row.size(), 0);
  for (size_t row = 0; row < source_row.size(); ++row)
    final_row[source_row[row]] = static_cast<uint32_t>(row);
  return final_row;
}

SpanId FinalSpan(SpanId added, const Column<uint32_t>& final_row) {
  if (added == SpanId::kNone || final_row.empty()) return added;
  return static_cast<SpanId>(final_row[Row(added)]);
}

// Parents that the importer set are rows of addition.
void MoveParents(const SpanOrder& order, std::span<const Nesting> nesting, const Column<uint32_t>& final_row,
                 SpanTable* spans) {
  if (final_row.empty()) return;
  for (size_t track = 0; track < order.tracks.size(); ++track) {
    if (nesting[track] != Nesting::kGiven) continue;
    for (SpanId& parent : RowsOf(spans->parent, order.tracks[track]))
      parent = FinalSpan(parent, final_row);
  }
}

void MoveSpans(const Column<uint32_t>& final_row, Column<SpanId>* spans) {
  for (size_t row = 0; row < spans->size(); ++row)
    (*spans)[row] = FinalSpan((*spans)[row], final_row);
}

// Orders the rows by span, stable. O(rows) if they are in order.
template <typename Table>
void OrderBySpan(Table* table) {
  const std::span<const SpanId> spans = table->span.view();
  if (std::is_sorted(spans.begin(), spans.end())) return;
  std::vector<uint32_t> order(spans.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return spans[a] < spans[b]; });
  table->ForEach([&order](auto& column) {
    std::remove_reference_t<decltype(column)> moved;
    moved.resize_unset(order.size());
    for (size_t row = 0; row < order.size(); ++row)
      moved[row] = column[order[row]];
    column = std::move(moved);
  });
}

// Sets the span at each end of a flow: that which the importer named, else the innermost one around its time.
void ResolveFlows(const SpanOrder& order, const Column<uint32_t>& final_row, TraceStorage* storage) {
  EnclosingSpans enclosing(storage->spans);
  const auto resolve = [&](SpanId* span, TrackId track, Timestamp time) {
    if (*span != SpanId::kNone) {
      *span = FinalSpan(*span, final_row);
    } else if (Row(track) < order.tracks.size()) {
      enclosing.Find(order.tracks[Row(track)], time, span);
    }
  };
  FlowTable& flows = storage->flows;
  for (size_t row = 0; row < flows.id.size(); ++row) {
    resolve(&flows.start_span[row], flows.start_track[row], flows.start_time[row]);
    resolve(&flows.end_span[row], flows.end_track[row], flows.end_time[row]);
  }
  enclosing.Finish();
}

}  // namespace

Trace TraceBuilder::Build(size_t max_threads) {
  constexpr size_t kRowsPerThread = size_t{1} << 17;
  TraceStorage& storage = *storage_;
  SpanTable& spans = storage.spans;
  const std::span<const Nesting> nesting(pending_->nesting);
  const SpanOrder order = OrderSpans(spans, nesting);
  const size_t threads =
      std::min(max_threads == 0 ? DefaultThreadCount() : max_threads, 1 + spans.size() / kRowsPerThread);
  {
    ThreadTeam team(threads);
    ApplyOrder(order.source_row.view(), &team, &spans);
    storage.has_explicit_kinds = spans.size() > 0 && FillKinds(storage.strings, pending_->tracks, &team, &spans);
  }
  const Column<uint32_t> final_row = InvertOrder(order.source_row.view());
  MoveParents(order, nesting, final_row, &spans);
  uint64_t crossings = 0;
  NestTracks(order, nesting, &spans, &crossings);
  if (crossings > 0) AddProblem("crossing_spans", -1, crossings);

  MoveSpans(final_row, &storage.tensors.span);
  OrderBySpan(&storage.tensors);
  MoveSpans(final_row, &storage.steps.span);
  ResolveFlows(order, final_row, &storage);

  for (const ProcessRow& row : pending_->processes)
    storage.processes.Add(row);
  for (size_t track = 0; track < pending_->tracks.size(); ++track) {
    TrackRow& row = pending_->tracks[track];
    row.first_span = order.tracks[track].first, row.span_count = order.tracks[track].count;
    storage.tracks.Add(row);
  }
  if (const uint64_t ids = FindLaunches(threads, &storage); ids > 0) AddProblem(kForeignIds, -1, ids);
  if (pending_->has_python_calls) {
    NumberPythonCalls(&storage, pending_->fill_stacks);
  } else {
    MoveSpans(final_row, &storage.python_calls.span);
    OrderBySpan(&storage.python_calls);
  }
  storage.Freeze();
  std::unique_ptr<const TraceStorage> built = std::move(storage_);
  storage_ = std::make_unique<TraceStorage>();
  pending_ = std::make_unique<Pending>();
  return Trace(std::move(built));
}

}  // namespace opscope

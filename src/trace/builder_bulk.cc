// What a TraceBuilder takes many of at once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trace/builder.h"
#include "trace/storage.h"

namespace opscope {
namespace {

template <typename T>
T* RowsFrom(size_t first, Column<T>* column) {
  return column->data() + first;
}

// The rows from `first` on: for the caller to write when it wants to, blank otherwise.
template <typename T, T kBlank>
T* RowsFrom(size_t first, bool is_wanted, BlankColumn<T, kBlank>* column) {
  if (is_wanted) return column->FillBefore(first) + first;
  if (!column->is_blank()) std::ranges::fill(column->rows().subspan(first), kBlank);
  return nullptr;
}

}  // namespace

void TraceBuilder::InternAll(const TaggedTexts& texts, std::vector<StringId>* ids) {
  storage_->strings.InternAll(texts, ids);
}

AddedSpan TraceBuilder::AppendSpans(size_t count) {
  const auto first = static_cast<AddedSpan>(storage_->spans.size());
  storage_->spans.Append(count);
  return first;
}
void TraceBuilder::SetSpan(AddedSpan span, const SpanRow& row, AddedSpan parent) {
  storage_->spans.Set(static_cast<size_t>(span), row, static_cast<SpanId>(parent));
}

SpanMemory TraceBuilder::AppendSpanRows(size_t count, const SpanFields& wanted) {
  SpanTable& spans = storage_->spans;
  const size_t first = spans.size();
  if (first == 0) spans.Reserve(count);
  spans.Append(count);
  return {.start = RowsFrom(first, &spans.start),
          .duration = RowsFrom(first, &spans.duration),
          .name = RowsFrom(first, &spans.name),
          .category = RowsFrom(first, &spans.category),
          .track = RowsFrom(first, &spans.track),
          .parent = RowsFrom(first, &spans.parent),
          .depth = RowsFrom(first, &spans.depth),
          .overload = RowsFrom(first, wanted.overload, &spans.overload),
          .flags = RowsFrom(first, wanted.flags, &spans.flags),
          .scope = RowsFrom(first, wanted.scope, &spans.scope),
          .kind = RowsFrom(first, wanted.kind, &spans.kind),
          .sequence = RowsFrom(first, wanted.sequence, &spans.sequence),
          .forward_thread = RowsFrom(first, wanted.forward_thread, &spans.forward_thread),
          .correlation = RowsFrom(first, wanted.correlation, &spans.correlation),
          .external_id = RowsFrom(first, wanted.external_id, &spans.external_id),
          .args = RowsFrom(first, wanted.args, &spans.args),
          .stack = RowsFrom(first, wanted.stack, &spans.stack),
          .extra = RowsFrom(first, wanted.extra, &spans.extra)};
}

void TraceBuilder::DropSpanRows(size_t count) {
  SpanTable& spans = storage_->spans;
  const size_t left = spans.size() - count;
  spans.ForEach([left](auto& column) { column.resize_unset(left); });
}

FlowMemory TraceBuilder::AppendFlowRows(size_t count) {
  FlowTable& flows = storage_->flows;
  const size_t first = flows.id.size(), rows = first + count;
  flows.ForEach([first, rows](auto& column) {
    if (first == 0) column.reserve(rows);
    column.resize_unset(rows);
  });
  return {.id = RowsFrom(first, &flows.id),
          .category = RowsFrom(first, &flows.category),
          .name = RowsFrom(first, &flows.name),
          .start_time = RowsFrom(first, &flows.start_time),
          .start_track = RowsFrom(first, &flows.start_track),
          .start_span = RowsFrom(first, &flows.start_span),
          .end_time = RowsFrom(first, &flows.end_time),
          .end_track = RowsFrom(first, &flows.end_track),
          .end_span = RowsFrom(first, &flows.end_span)};
}

void TraceBuilder::DropFlowRows(size_t count) {
  FlowTable& flows = storage_->flows;
  flows.ForEach([left = flows.id.size() - count](auto& column) { column.resize_unset(left); });
}

}  // namespace opscope

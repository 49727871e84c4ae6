// Adds many rows at once. An importer that knows the number of rows gets a pointer per column and writes
// through it from several threads, without a call per row. Sparse columns that it does not name stay unallocated.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <type_traits>

#include "trace/builder.h"
#include "trace/storage.h"

namespace opscope {
namespace {

// Returns the rows from `first` on, which the caller writes. If it does not want to: null, and the rows are the default.
template <typename T, T kFillValue>
T* RowsFrom(size_t first, bool is_wanted, LazyColumn<T, kFillValue>* column) {
  if (is_wanted) return column->FillBefore(first) + first;
  if (!column->is_unallocated()) std::ranges::fill(column->rows().subspan(first), kFillValue);
  return nullptr;
}

// The memory of the rows from `first` on. REQUIRES: the table has grown already.
template <typename Description, typename Memory, typename Members, typename Fields>
Memory MemoryFrom(size_t first, const Fields& wanted, Members* members) {
  Memory memory;
  Description::ForEach(
      [first](auto, auto& rows, auto& column, bool is_wanted) {
        if constexpr (SparseColumn<std::remove_reference_t<decltype(column)>>) {
          rows = RowsFrom(first, is_wanted, &column);
        } else {
          rows = column.data() + first;
        }
      },
      memory, *members, wanted);
  return memory;
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
void TraceBuilder::SetSpan(AddedSpan span, const SpanRow& row) {
  storage_->spans.Set(static_cast<size_t>(span), row);
}

SpanMemory TraceBuilder::AppendSpanRows(size_t count, const SpanFields& wanted) {
  SpanTable& spans = storage_->spans;
  const size_t first = spans.size();
  if (first == 0) spans.Reserve(count);
  spans.Append(count);
  return MemoryFrom<SpanDescription, SpanMemory, SpanMembers>(first, wanted, &spans);
}

void TraceBuilder::DropSpanRows(size_t count) {
  SpanTable& spans = storage_->spans;
  const size_t left = spans.size() - count;
  spans.ForEach([left](auto& column) { column.resize_unset(left); });
}

FlowMemory TraceBuilder::AppendFlowRows(size_t count) {
  FlowTable& flows = storage_->flows;
  const size_t first = flows.size(), rows = first + count;
  flows.ForEach([first, rows](auto& column) {
    if (first == 0) column.reserve(rows);
    column.resize_unset(rows);
  });
  return MemoryFrom<FlowDescription, FlowMemory, FlowMembers>(first, FlowFields(), &flows);
}

void TraceBuilder::DropFlowRows(size_t count) {
  FlowTable& flows = storage_->flows;
  flows.ForEach([left = flows.size() - count](auto& column) { column.resize_unset(left); });
}

}  // namespace opscope

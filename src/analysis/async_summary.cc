// One hash-free pass: names are interned, so a vector indexed by name id finds the row. Async spans have no parents,
// hence no self time and no recursion; sums saturate because a hostile file may hold any duration.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/async_summary.h"

#include <algorithm>

#include "analysis/async_rows.h"
#include "base/saturating.h"

namespace opscope {
namespace {

constexpr uint32_t kNoRow = UINT32_MAX;

}  // namespace

std::vector<AsyncSummaryRow> AsyncRowsInOrder(const Trace& trace) {
  const AsyncSpanColumns& spans = trace.async_spans();
  std::vector<AsyncSummaryRow> rows;
  std::vector<uint32_t> row_of;  // by name
  for (size_t i = 0; i < spans.size(); ++i) {
    const StringId id = spans.name[i] == StringId::kNone ? StringId::kEmpty : spans.name[i];  // of a damaged file
    const size_t name = Row(id);
    if (name >= row_of.size()) row_of.resize(name + 1, kNoRow);
    const int64_t ns = spans.duration[i].ns;
    const AsyncSummaryRow of_span{.name = id, .count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns};
    if (row_of[name] == kNoRow) {
      row_of[name] = static_cast<uint32_t>(rows.size());
      rows.push_back(of_span);
    } else {
      AddAsyncRow(of_span, &rows[row_of[name]]);
    }
  }
  return rows;
}

void AddAsyncRow(const AsyncSummaryRow& other, AsyncSummaryRow* row) {
  row->count += other.count;
  row->total_ns = SaturatingAdd(row->total_ns, other.total_ns);
  row->min_ns = std::min(row->min_ns, other.min_ns);
  row->max_ns = std::max(row->max_ns, other.max_ns);
}

void SortAsyncRows(std::vector<AsyncSummaryRow>* rows) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const AsyncSummaryRow& a, const AsyncSummaryRow& b) { return a.total_ns > b.total_ns; });
}

std::vector<AsyncSummaryRow> SummarizeAsyncSpans(const Trace& trace) {
  std::vector<AsyncSummaryRow> rows = AsyncRowsInOrder(trace);
  SortAsyncRows(&rows);
  return rows;
}

}  // namespace opscope

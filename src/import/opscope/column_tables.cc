// Tables refer to rows of earlier tables, so blocks are read in the order of the file. Spans are added once all their
// blocks were read; the tables that refer to spans come after them.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_tables.h"

#include "import/opscope/column_rows.h"

namespace opscope {

bool ColumnTables::AddStrings(uint32_t first_id, const TaggedTexts& texts) {
  new_ids_.clear();
  builder_->InternAll(texts, &new_ids_);
  return ids_.strings().Add(first_id, new_ids_);
}

void ColumnTables::AddWaitingSpans(std::vector<int64_t>* damaged) {
  if (span_blocks_.empty()) return;
  span_blocks_.AddAll(
      {ids_.strings().view(), ids_.arguments(), ids_.stacks()}, [this](uint64_t stored) { return ids_.Track(stored); },
      [this](uint64_t file_row, uint64_t rows, uint32_t added) { ids_.PlaceSpans(file_row, rows, added); }, damaged);
}

bool ColumnTables::AddTable(const TablePayload& payload) {
  if (TableOf(payload.bytes) == SpanDescription::kNumber) return span_blocks_.Add(payload);
  TableBlock block;
  if (!block.Parse(payload.bytes)) return false;
  return AddTableRows(block, &ids_, builder_);
}

void ColumnTables::Finish(bool whole) {
  if (!whole) return;
  for (const TrackId track : ids_.tracks()) {
    if (track != TrackId::kNone) builder_->SetPreOrdered(track);
  }
}

}  // namespace opscope

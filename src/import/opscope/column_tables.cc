// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_tables.h"

#include "import/opscope/column_rows.h"
#include "wire/schema.h"

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
  if (TableOf(payload.bytes) == wire::kSpans) return span_blocks_.Add(payload);
  TableBlock block;
  if (!block.Parse(payload.bytes)) return false;
  switch (block.table()) {
    case wire::kProcesses:
      return AddProcesses(block, &ids_, builder_);
    case wire::kTracks:
      return AddTracks(block, &ids_, builder_);
    case wire::kAsyncSpans:
      return AddAsyncSpans(block, &ids_, builder_);
    case wire::kInstants:
      return AddInstants(block, &ids_, builder_);
    case wire::kCounters:
      return AddCounters(block, &ids_, builder_);
    case wire::kFlows:
      return AddFlows(block, &ids_, builder_);
    case wire::kAllocations:
      return AddAllocations(block, &ids_, builder_);
    case wire::kSteps:
      return AddSteps(block, &ids_, builder_);
    case wire::kPythonCalls:
      return AddPythonCalls(block, &ids_, builder_);
    case wire::kFrames:
      return AddFrames(block, &ids_, builder_);
    case wire::kStacks:
      return AddStacks(block, &ids_, builder_);
    case wire::kArguments:
      return AddArguments(block, &ids_, builder_);
    case wire::kProblems:
      return AddProblems(block, &ids_, builder_);
    case wire::kMetadata:
      return AddMetadata(block, &ids_, builder_);
    case wire::kTensors:
      return AddTensors(block, &ids_, builder_);
    case wire::kHeldTensors:
      return AddHeldTensors(block, &ids_, builder_);
    case wire::kTensorLives:
      return AddTensorLives(block, &ids_, builder_);
    case wire::kOperators:
      return AddOperators(block, &ids_, builder_);
    default:
      return true;  // a table of a newer version
  }
}

void ColumnTables::Finish(bool whole) {
  if (!whole) return;
  for (const TrackId track : ids_.tracks()) {
    if (track != TrackId::kNone) builder_->SetPreOrdered(track);
  }
}

}  // namespace opscope

// Spans of a file are placed in runs: consecutive rows of the file that are consecutive rows of the Trace. A row number
// is found by binary search over the runs, so no table of ids per span (4 bytes each) is needed. If file and Trace have
// the same order, one run remains.
// SPDX-License-Identifier: Apache-2.0
#include "import/opscope/column_ids.h"

#include <algorithm>
#include <utility>

#include "wire/schema.h"
#include "wire/table_block.h"

namespace opscope {

void ColumnIds::PlaceSpans(uint64_t row, uint64_t rows, uint32_t added) {
  spans_.push_back({row, rows, added});
  runs_sorted_ = false;
}

TrackId ColumnIds::Track(uint64_t stored) {
  if (stored == wire::kNoId || stored > tracks_.size() + 1 + kMaxColumnRows) return TrackId::kNone;
  const uint64_t row = stored - 1;
  if (row < tracks_.size() && tracks_[row] != TrackId::kNone) return tracks_[row];
  const ProcessId process = builder_->process_count() > 0 ? ProcessId{0} : builder_->AddProcess({});
  const TrackId track = builder_->AddTrack({.process = process, .kind = TrackKind::kOther});
  PlaceRow(row, track, TrackId::kNone, &tracks_);
  return track;
}

// Join adjacent runs; one remains if file and Trace have the same order.
void ColumnIds::SortRuns() {
  std::sort(spans_.begin(), spans_.end(), [](const SpanRun& a, const SpanRun& b) { return a.file_row < b.file_row; });
  std::vector<SpanRun> joined;
  for (const SpanRun& run : spans_) {
    const bool goes_on = !joined.empty() && joined.back().file_row + joined.back().rows == run.file_row &&
                         joined.back().added + joined.back().rows == run.added;
    if (goes_on) {
      joined.back().rows += run.rows;
    } else {
      joined.push_back(run);
    }
  }
  spans_ = std::move(joined);
  runs_sorted_ = true;
}

AddedSpan ColumnIds::Span(uint64_t stored) {
  if (stored == wire::kNoId) return AddedSpan::kNone;
  const uint64_t row = stored - 1;
  if (!runs_sorted_) {
    SortRuns();
  }
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), row,
                                      [](uint64_t r, const SpanRun& run) { return r < run.file_row; });
  if (after == spans_.begin() || row - (after - 1)->file_row >= (after - 1)->rows) {
    ++lost_spans_;
    return AddedSpan::kNone;
  }
  const SpanRun& run = *(after - 1);
  return static_cast<AddedSpan>(run.added + static_cast<uint32_t>(row - run.file_row));
}

}  // namespace opscope

// Chooses what a timeline shows beside spans: asynchronous ranges, which have an id and
// may cross threads, and points in time. What does not fit becomes blocks with their
// number, as with spans.
//
//   const TimelineMarks ranges = ChooseAsyncRanges(trace, {.max_kept = 10'000, .max_blocks = 1'000});
//   const TimelineMarks points = ChooseInstants(trace, {.max_kept = 10'000});
//   // kept.size() + folded_count + without_track: all rows
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/analysis/timeline_levels.h"
#include "opscope/trace.h"

namespace opscope {

// How much a timeline may have.
struct MarkBudget {
  size_t max_kept = SIZE_MAX;
  // At least one per track is made.
  size_t max_blocks = SIZE_MAX;
};

// The choice.
struct TimelineMarks {
  // Rows of trace.async_spans() or trace.instants(), by track, start, row.
  std::vector<uint32_t> kept;
  // By kept one: its line among those of its track, 0 on top.
  std::vector<uint32_t> line;
  // By track, line (`row`), start.
  std::vector<FoldedSpans> folded;
  // Rows in `folded`, and rows without a track, which are nowhere.
  uint64_t folded_count = 0, without_track = 0;
  // By track of the trace: number of its lines.
  std::vector<uint32_t> lines;
};

// Keeps the longest ranges, ties in the order of the trace. Ranges that overlap have
// lines of their own, 64 at most: each takes the first one that is free at its begin.
// O(n log n).
[[nodiscard]] TimelineMarks ChooseAsyncRanges(const Trace& trace, const MarkBudget& budget = {});

// Keeps the points that stand alone and folds those that stand closest together, until
// points and blocks are at most max_kept, or one block per track. Points that stand for
// allocations are not among them. Each track has one line. O(n log n).
[[nodiscard]] TimelineMarks ChooseInstants(const Trace& trace, const MarkBudget& budget = {});

}  // namespace opscope

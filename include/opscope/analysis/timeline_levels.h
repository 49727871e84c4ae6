// Chooses which spans a timeline shows when it cannot show all: the longest, with
// everything around them. Left-out spans that stand close together become one block
// with their number, so that nothing disappears without a trace of it.
//
//   const TimelineSpans spans(trace);
//   const TimelineLevels levels = spans.Choose({.max_spans = 100'000, .max_blocks = 20'000});
//   // levels.kept: rows of trace.spans(); levels.folded: blocks; together all spans
//
// Thread rule: pure functions of an immutable Trace, which must outlive TimelineSpans.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// How much a timeline may have.
struct TimelineBudget {
  // Most spans that are kept.
  size_t max_spans = SIZE_MAX;
  // Most blocks of left-out spans; at least one per track is made.
  size_t max_blocks = SIZE_MAX;
  // Most tracks: those with the most spans.
  size_t max_tracks = SIZE_MAX;
};

// Left-out spans of one track and row that stand close together.
struct FoldedSpans {
  uint32_t track = 0;
  // As TimelineLevels::row. The last one may stand for deeper ones too.
  uint32_t row = 0;
  // From the first begin to the last end, in nanoseconds since the trace's epoch.
  int64_t start_ns = 0, duration_ns = 0;
  // Number of spans, at least 1.
  uint64_t count = 0;
};

// The choice.
struct TimelineLevels {
  // Rows of trace.spans() that are kept, ascending. A kept span's ancestors are kept.
  std::vector<uint32_t> kept;
  // By kept span: the line of its track that it is drawn in, 0 on top: its depth, and
  // for asynchronous spans a line of their own below the nested ones.
  std::vector<uint32_t> row;
  // By kept span: its duration less its self time, in nanoseconds.
  std::vector<int64_t> covered_ns;
  // By track, row, start.
  std::vector<FoldedSpans> folded;
  // Spans in `folded`. With those of `kept` and of left-out tracks, all spans of the trace.
  uint64_t folded_spans = 0;
  // None of them is longer, in nanoseconds.
  int64_t longest_folded_ns = 0;
  // Tracks with spans that the choice has, ascending.
  std::vector<uint32_t> tracks;
  // Tracks with spans that it lacks, and their spans.
  uint64_t left_out_tracks = 0, left_out_spans = 0;
  // Spans of the same row closer than this, in nanoseconds, are in one block.
  int64_t gap_ns = 0;
};

// What the choice needs of each span, computed once: 16 bytes per span.
class TimelineSpans {
 public:
  // O(spans), and O(n log n) in asynchronous spans.
  explicit TimelineSpans(const Trace& trace);

  // Keeps the longest spans. A span counts as long as the longest one inside it, so
  // that ancestors go first; of equally long ones, the first in the trace are kept. The
  // same budget gives the same choice. O(spans).
  [[nodiscard]] TimelineLevels Choose(const TimelineBudget& budget) const;

  // Number of lines of a track: greatest depth + 1, and those of asynchronous spans.
  [[nodiscard]] uint32_t RowsOf(uint32_t track) const { return rows_[track]; }

  // The line of a span, as TimelineLevels::row. O(1).
  [[nodiscard]] uint32_t RowOf(uint32_t span) const;
  // Its duration less its self time, in nanoseconds.
  [[nodiscard]] int64_t CoveredOf(uint32_t span) const;

  // Most lines that asynchronous spans of a track have; further ones share the last.
  static constexpr uint32_t kMaxAsyncRows = 64;

 private:
  void AddAsyncRows(uint32_t track, uint32_t first, uint32_t end);
  void ChooseTracks(size_t max_tracks, TimelineLevels* levels) const;
  [[nodiscard]] int64_t CutOf(const std::vector<uint32_t>& tracks, size_t max_spans, size_t* of_equal) const;
  void Fold(size_t max_blocks, TimelineLevels* levels) const;

  const Trace& trace_;
  std::vector<int64_t> self_ns_;       // by span
  std::vector<int64_t> longest_ns_;    // by span: duration of the longest span in it, itself included
  std::vector<uint32_t> rows_;         // by track
  std::vector<uint32_t> async_first_;  // by track: its first asynchronous span
  std::vector<uint32_t> async_index_;  // by track: index of that span in async_rows_
  std::vector<uint32_t> async_rows_;   // by asynchronous span, in the order of the trace
};

}  // namespace opscope

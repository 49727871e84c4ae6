// Chooses what a timeline shows of a range of time at a number of pixels: spans of at
// least a pixel, and blocks that stand for shorter ones.
//
//   const TimelineSpans spans(trace);
//   const TimelineLevels levels = TimelineWindow(trace, spans, {.begin_ns = 0, .end_ns = 1'000'000, .pixels = 1000});
//
// Thread rule: pure function of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/analysis/timeline_levels.h"
#include "opscope/trace.h"

namespace opscope {

// What is visible.
struct TimelineRange {
  // [begin_ns, end_ns), nanoseconds since the trace's epoch.
  int64_t begin_ns = 0, end_ns = 0;
  // Width in which it is drawn; at least 1 is taken.
  uint32_t pixels = 1000;
  // Rows of trace.tracks(), ascending; empty: all tracks with spans.
  std::vector<uint32_t> tracks = {};
  // Most spans and blocks together. If more are needed, pixels are taken for wider;
  // one block per line of a track is made in any case.
  size_t max_items = 200'000;
};

// Of the spans that overlap the range (one of length 0: that begin in it) those as long
// as a pixel, and those that stand alone. The others are blocks: neighbours of a line
// closer than a pixel, from the first begin to the last end. `kept` and `folded` hold
// each of these spans once; gap_ns is the length of a pixel. left_out_tracks and
// left_out_spans are 0. O(spans of the tracks).
[[nodiscard]] TimelineLevels TimelineWindow(const Trace& trace, const TimelineSpans& spans, const TimelineRange& range);

}  // namespace opscope

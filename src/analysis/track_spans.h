// The spans of a track, which of them are selected, and their times.
//
//   for (const uint32_t span : SpansOfTrack(trace, track))
//     if (IsSelected(selected, span)) times.push_back(TimeOfSpan(trace.spans(), span));
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <vector>

#include "analysis/intervals.h"
#include "base/saturating.h"
#include "opscope/trace.h"

namespace opscope {

// The rows of `spans`, in order.
inline auto SpansOfTrack(const Trace& trace, uint32_t track) {
  const uint32_t first = trace.tracks().first_span[track];
  return std::views::iota(first, first + trace.tracks().span_count[track]);
}

// Whether `selected`, by row of `spans`, has 1; nullptr selects all.
inline bool IsSelected(const std::vector<uint8_t>* selected, size_t span) {
  return selected == nullptr || (*selected)[span] != 0;
}

inline Interval TimeOfSpan(const SpanColumns& spans, size_t span) {
  const int64_t begin = spans.start[span].ns;
  return {begin, SaturatingAdd(begin, spans.duration[span].ns)};
}

}  // namespace opscope

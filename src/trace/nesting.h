// Finds the parent of every span of one track. Rows are sorted by start, longer first; those of a recording stand in
// pre-order.
//
// There are three ways. By depth: recordings say how many scopes were open around each, so ties and zero durations are
// exact and no time is compared. By containment, for formats that only know times:
//
//   a [0,10)   b [2,6)   c [4,8)   d [10,10)        b lies in a; c starts in b but crosses its end, so it
//                                                   is taken as [4,6) in b; d starts where a ends: a sibling
//
// As siblings: without clipping, for tracks where crossing is no fault (calls of Python and ranges that a `with` block
// enters in one call and leaves in another): c crosses the end of b, so it stands beside it, in a, and b takes nothing
// more.
//
// A span lies in another when it starts in [start, end) of it. A span of zero length contains nothing.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/saturating.h"
#include "opscope/types.h"

namespace opscope {

// How the parents of one track's spans are found. kGiven: they were added with them.
enum class Nesting : uint8_t { kByTime, kByDepth, kGiven, kByTimeAsSiblings };

// `depth` in: as recorded, gaps legal (a row's parent is the nearest earlier row that is less deep).
// Out: number of ancestors. parent[i] becomes a row number: first_row + index, or kNone. O(n).
void NestByDepth(uint32_t first_row, std::span<uint16_t> depth, std::span<SpanId> parent);

// REQUIRES: sorted by start, then longer first, then order of addition; durations >= 0.
// Returns how many spans cross their parent's end. O(n).
uint64_t NestByContainment(uint32_t first_row, std::span<const Timestamp> start, std::span<const Duration> duration,
                           std::span<uint16_t> depth, std::span<SpanId> parent);

// Likewise; a span that crosses the end of another becomes its sibling. O(n).
void NestAsSiblings(uint32_t first_row, std::span<const Timestamp> start, std::span<const Duration> duration,
                    std::span<uint16_t> depth, std::span<SpanId> parent);

// start + duration, at most the largest time there is.
inline int64_t EndOf(Timestamp start, Duration duration) {
  return SaturatingAdd(start.ns, duration.ns);
}

}  // namespace opscope

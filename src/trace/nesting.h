// Finds the parent of every span of one track. Rows are sorted by start, longer first; those of a recording are in
// pre-order.
//
// There are three ways. By depth: a recording has the number of open scopes around each span, so ties and zero
// durations are exact and no time is compared. By containment, for formats that only have times:
//
//   a [0,10)   b [2,6)   c [4,8)   d [10,10)        b lies in a; c starts in b but crosses its end, so it
//                                                   is taken as [4,6) in b; d starts where a ends: a sibling
//
// As siblings: without clipping, for tracks where spans may cross (calls of Python and ranges that a `with` block
// enters in one call and leaves in another): c crosses the end of b, so it is a sibling of b, in a, and b gets no
// further children.
//
// A span lies in another if it starts in the other's [start, end). A span of zero length contains nothing.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/saturating.h"
#include "opscope/types.h"

namespace opscope {

// How the parents of one track's spans are found. kGiven: the importer sets them.
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

// start + duration, clamped to the largest time.
inline int64_t EndOf(Timestamp start, Duration duration) {
  return SaturatingAdd(start.ns, duration.ns);
}

}  // namespace opscope

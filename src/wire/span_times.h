// Times of nested spans as gaps between neighbouring edges.
//
// Start deltas and durations are redundant: the duration of a leaf is most of the start delta of its
// sibling, and every parent ends shortly after its last child. So the edges (starts and ends) of a
// run of spans are walked in the order of the nesting, and each is stored as the distance to the previous
// edge. Each of the four kinds of neighbours has a column:
//
//   a [0,100) with b [10,30) and c [35,90) in it; edges:  a( b( b) c( c) a)
//   start after start: 10 (b)   start after end: 5 (c)   end after start: 20 (b), 55 (c)   end after end: 10 (a)
//   base: 0 (a, the first edge)
//
// Depth alone gives the order of the edges, so times that contradict the nesting (crossing spans) are
// stored exactly too, as negative gaps. Saves 22 % against start deltas and durations (column_codec.h).
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace opscope {

// Columns by kind of neighbours: [previous edge is an end][this edge is an end].
struct EdgeGaps {
  std::array<std::array<std::vector<uint64_t>, 2>, 2> gaps;
};

// Appends the edges of one run; the first edge is stored as its distance to `base`.
// REQUIRES: the three std::spans have one size.
void AppendEdgeGaps(std::span<const uint64_t> depth, std::span<const uint64_t> start,
                    std::span<const uint64_t> duration, uint64_t base, EdgeGaps* out);

// Reads runs back in the order in which they were appended.
class EdgeGapReader {
 public:
  explicit EdgeGapReader(const EdgeGaps* gaps) : gaps_(gaps) {}

  // False if there are too few gaps.
  [[nodiscard]] bool Read(std::span<const uint64_t> depth, uint64_t base, std::span<uint64_t> start,
                          std::span<uint64_t> duration);
  bool at_end() const;  // no gap is left

 private:
  bool Take(bool is_end);

  const EdgeGaps* gaps_;
  size_t next_[2][2] = {};
  bool previous_is_end_ = false;
  uint64_t time_ = 0;
};

}  // namespace opscope

// Both directions walk the same edges: WalkEdges derives the order of starts and ends from the depths
// alone, so the writer stores no order and the reader needs no times to find it. Distances wrap around
// modulo 2^64, so crossing spans, whose next edge lies before the previous one, survive exactly.
// span_times.h has the example and the measured gain.
// SPDX-License-Identifier: Apache-2.0
#include "wire/span_times.h"

namespace opscope {
namespace {

// Visits the edges of the run in the order of the nesting. visit(row, is_end) returns false to stop.
template <typename Visit>
bool WalkEdges(std::span<const uint64_t> depth, Visit visit) {
  std::vector<size_t> open;
  for (size_t row = 0; row < depth.size(); ++row) {
    while (!open.empty() && depth[open.back()] >= depth[row]) {
      if (!visit(open.back(), true)) return false;
      open.pop_back();
    }
    if (!visit(row, false)) return false;
    open.push_back(row);
  }
  while (!open.empty()) {
    if (!visit(open.back(), true)) return false;
    open.pop_back();
  }
  return true;
}

}  // namespace

void AppendEdgeGaps(std::span<const uint64_t> depth, std::span<const uint64_t> start,
                    std::span<const uint64_t> duration, uint64_t base, EdgeGaps* out) {
  uint64_t time = base;
  bool previous_is_end = false;
  WalkEdges(depth, [&](size_t row, bool is_end) {
    const uint64_t edge = start[row] + (is_end ? duration[row] : 0);
    out->gaps[previous_is_end][is_end].push_back(edge - time);
    time = edge;
    previous_is_end = is_end;
    return true;
  });
}

bool EdgeGapReader::Take(bool is_end) {
  size_t& next = next_[previous_is_end_][is_end];
  const std::vector<uint64_t>& column = gaps_->gaps[previous_is_end_][is_end];
  if (next == column.size()) return false;
  time_ += column[next++];
  previous_is_end_ = is_end;
  return true;
}

bool EdgeGapReader::Read(std::span<const uint64_t> depth, uint64_t base, std::span<uint64_t> start,
                         std::span<uint64_t> duration) {
  time_ = base;
  previous_is_end_ = false;
  return WalkEdges(depth, [&](size_t row, bool is_end) {
    if (!Take(is_end)) return false;
    if (is_end) {
      duration[row] = time_ - start[row];
    } else {
      start[row] = time_;
    }
    return true;
  });
}

bool EdgeGapReader::at_end() const {
  for (int previous = 0; previous < 2; ++previous) {
    for (int edge = 0; edge < 2; ++edge) {
      if (next_[previous][edge] != gaps_->gaps[static_cast<size_t>(previous)][static_cast<size_t>(edge)].size())
        return false;
    }
  }
  return true;
}

}  // namespace opscope

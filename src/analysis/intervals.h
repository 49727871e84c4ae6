// Sets of moments as intervals of time, in nanoseconds: unions, differences, lengths within a window. All times of
// analyses that count overlaps once are computed here.
//
//   IntervalSet busy(std::move(kernels));                 // [0, 4) [2, 6) [9, 10) become [0, 6) [9, 10)
//   busy.length();                                        // 7
//   busy.LengthIn(5, 20);                                 // 2
//   Union(busy, copies).length() - busy.length();         // time in which only copies run
//   input.Minus(busy).LengthIn(step.begin, step.end);     // waiting for input while the device is idle
//
// Lengths saturate: times of a damaged file add up to anything.
//
// Thread rule: pure functions; sets are immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace opscope {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;  // >= begin
};

struct UnionLength {
  int64_t covered = 0;
  int64_t longest_gap = 0;  // between two covered parts; an interval of length 0 ends a gap too
};

// Sorts `intervals` by begin. O(n log n).
[[nodiscard]] UnionLength MeasureUnion(std::vector<Interval>* intervals);

// Adds an interval, or lengthens the last one if they overlap: spans of a track in the order of rows need one interval
// per outermost span.
inline void AppendOrExtend(Interval added, std::vector<Interval>* intervals) {
  if (!intervals->empty() && added.begin >= intervals->back().begin && added.begin <= intervals->back().end) {
    if (added.end > intervals->back().end) intervals->back().end = added.end;
  } else {
    intervals->push_back(added);
  }
}

class IntervalSet {
 public:
  IntervalSet() = default;
  // The union. O(n log r) for r runs that are sorted by begin, such as the spans of r tracks.
  explicit IntervalSet(std::vector<Interval> intervals);

  // Disjoint, sorted, of length > 0, with gaps between them.
  std::span<const Interval> intervals() const { return intervals_; }
  int64_t length() const;
  // Length of the part within [begin, end); 0 if end <= begin. O(log n + kBlock).
  int64_t LengthIn(int64_t begin, int64_t end) const;
  // Length of the part before `time`. O(log n + kBlock).
  int64_t LengthBefore(int64_t time) const;
  // Likewise; `near` is where the question before ended, 0 at first. O(kBlock) for a time close to that one.
  int64_t LengthBefore(int64_t time, size_t* near) const;
  // The moments that `other` does not have. O(n + m), and O(n log m) for a small set.
  IntervalSet Minus(const IntervalSet& other) const;
  // O(n + m).
  friend IntervalSet Union(const IntervalSet& a, const IntervalSet& b);

 private:
  static constexpr size_t kBlock = 16;

  void MeasureLengths();
  int64_t LengthUpTo(size_t after, int64_t time) const;

  std::vector<Interval> intervals_;
  std::vector<int64_t> length_before_;  // of the intervals before each block of kBlock
};

IntervalSet Union(const IntervalSet& a, const IntervalSet& b);

}  // namespace opscope

// Sweeps over intervals sorted by begin. MeasureUnion: `reached` is the end of the union so far, and each interval adds
// only its part beyond it; [0, 4), [2, 6), [9, 10) cover 7 and have a longest gap of 3. An IntervalSet keeps the length
// of all intervals before each block of them, so that the length within a window is two binary searches, two sums over
// a block and a subtraction.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/natural_sort.h"
#include "base/saturating.h"

namespace opscope {
namespace {

bool BeginsBefore(const Interval& a, const Interval& b) {
  return a.begin < b.begin;
}

}  // namespace

UnionLength MeasureUnion(std::vector<Interval>* intervals) {
  NaturalSort(intervals, &BeginsBefore);
  UnionLength all;
  int64_t reached = 0;
  bool is_first = true;
  for (const Interval& interval : *intervals) {
    if (is_first || interval.begin > reached) {
      if (!is_first) all.longest_gap = std::max(all.longest_gap, SaturatingSubtract(interval.begin, reached));
      all.covered = SaturatingAdd(all.covered, SaturatingSubtract(interval.end, interval.begin));
      reached = interval.end;
    } else if (interval.end > reached) {
      all.covered = SaturatingAdd(all.covered, SaturatingSubtract(interval.end, reached));
      reached = interval.end;
    }
    is_first = false;
  }
  return all;
}

IntervalSet::IntervalSet(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {
  NaturalSort(&intervals_, &BeginsBefore);
  size_t kept = 0;  // the union so far is [0, kept)
  for (const Interval& interval : intervals_) {
    if (interval.begin >= interval.end) continue;
    if (kept > 0 && interval.begin <= intervals_[kept - 1].end) {
      intervals_[kept - 1].end = std::max(intervals_[kept - 1].end, interval.end);
    } else {
      intervals_[kept++] = interval;
    }
  }
  intervals_.resize(kept);
  MeasureLengths();
}

void IntervalSet::MeasureLengths() {
  length_before_.reserve(intervals_.size() / kBlock + 1);
  int64_t length = 0;
  for (size_t i = 0; i < intervals_.size(); ++i) {
    if (i % kBlock == 0) length_before_.push_back(length);
    length = SaturatingAdd(length, SaturatingSubtract(intervals_[i].end, intervals_[i].begin));
  }
}

int64_t IntervalSet::length() const {
  return intervals_.empty() ? 0 : LengthBefore(intervals_.back().end);
}

// after: the first interval that does not begin before `time`.
int64_t IntervalSet::LengthUpTo(size_t after, int64_t time) const {
  if (after == 0) return 0;
  const size_t block = (after - 1) / kBlock;
  int64_t length = length_before_[block];
  for (size_t i = block * kBlock; i < after; ++i)
    length = SaturatingAdd(length, SaturatingSubtract(std::min(time, intervals_[i].end), intervals_[i].begin));
  return length;
}

int64_t IntervalSet::LengthBefore(int64_t time) const {
  const auto after = std::lower_bound(intervals_.begin(), intervals_.end(), Interval{time, time}, &BeginsBefore);
  return LengthUpTo(static_cast<size_t>(after - intervals_.begin()), time);
}

int64_t IntervalSet::LengthBefore(int64_t time, size_t* near) const {
  constexpr size_t kNear = 4;
  size_t after = *near;
  if (after == 0 || intervals_[after - 1].begin < time) {
    const size_t end = std::min(intervals_.size(), after + kNear);
    while (after < end && intervals_[after].begin < time)
      ++after;
    if (after == intervals_.size() || intervals_[after].begin >= time) return LengthUpTo(*near = after, time);
  }
  const auto found = std::lower_bound(intervals_.begin(), intervals_.end(), Interval{time, time}, &BeginsBefore);
  return LengthUpTo(*near = static_cast<size_t>(found - intervals_.begin()), time);
}

int64_t IntervalSet::LengthIn(int64_t begin, int64_t end) const {
  return begin < end ? LengthBefore(end) - LengthBefore(begin) : 0;
}

IntervalSet IntervalSet::Minus(const IntervalSet& other) const {
  IntervalSet rest;
  auto taken = other.intervals_.begin();
  for (Interval interval : intervals_) {
    // The next one is near, or `other` is much larger.
    for (int near = 0; near < 8 && taken != other.intervals_.end() && taken->end <= interval.begin; ++near)
      ++taken;
    if (taken != other.intervals_.end() && taken->end <= interval.begin) {
      taken = std::partition_point(taken, other.intervals_.end(),
                                   [&](const Interval& each) { return each.end <= interval.begin; });
    }
    // An interval that reaches beyond this one may also cut the next one.
    for (; taken != other.intervals_.end() && taken->begin < interval.end; ++taken) {
      if (interval.begin < taken->begin) rest.intervals_.push_back({interval.begin, taken->begin});
      interval.begin = taken->end;
      if (interval.begin >= interval.end) break;
    }
    if (interval.begin < interval.end) rest.intervals_.push_back(interval);
  }
  rest.MeasureLengths();
  return rest;
}

IntervalSet Union(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> both;
  both.reserve(a.intervals_.size() + b.intervals_.size());
  std::merge(a.intervals_.begin(), a.intervals_.end(), b.intervals_.begin(), b.intervals_.end(),
             std::back_inserter(both), &BeginsBefore);
  return IntervalSet(std::move(both));
}

}  // namespace opscope

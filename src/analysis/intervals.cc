// Sweeps over intervals sorted by begin. MeasureUnion: `reached` is the end of the union so far, and each interval adds
// only its part beyond it; [0, 4), [2, 6), [9, 10) cover 7 and have a longest gap of 3. An IntervalSet keeps the length
// of all intervals before each, so that the length within a window is two binary searches and a subtraction.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/saturating.h"

namespace opscope {
namespace {

bool BeginsBefore(const Interval& a, const Interval& b) {
  return a.begin < b.begin;
}

}  // namespace

UnionLength MeasureUnion(std::vector<Interval>* intervals) {
  std::sort(intervals->begin(), intervals->end(), &BeginsBefore);
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

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), &BeginsBefore))
    std::sort(intervals.begin(), intervals.end(), &BeginsBefore);
  for (const Interval& interval : intervals)
    if (interval.begin < interval.end) AppendOrExtend(interval, &intervals_);
  MeasureLengths();
}

void IntervalSet::MeasureLengths() {
  length_before_.reserve(intervals_.size());
  int64_t length = 0;
  for (const Interval& interval : intervals_) {
    length_before_.push_back(length);
    length = SaturatingAdd(length, SaturatingSubtract(interval.end, interval.begin));
  }
}

int64_t IntervalSet::length() const {
  return intervals_.empty() ? 0 : LengthBefore(intervals_.back().end);
}

int64_t IntervalSet::LengthBefore(int64_t time) const {
  const auto after = std::lower_bound(intervals_.begin(), intervals_.end(), Interval{time, time}, &BeginsBefore);
  if (after == intervals_.begin()) return 0;
  const Interval& last = *std::prev(after);
  return SaturatingAdd(length_before_[static_cast<size_t>(after - intervals_.begin()) - 1],
                       SaturatingSubtract(std::min(time, last.end), last.begin));
}

int64_t IntervalSet::LengthIn(int64_t begin, int64_t end) const {
  return begin < end ? LengthBefore(end) - LengthBefore(begin) : 0;
}

IntervalSet IntervalSet::Minus(const IntervalSet& other) const {
  IntervalSet rest;
  auto taken = other.intervals_.begin();
  for (Interval interval : intervals_) {
    while (taken != other.intervals_.end() && taken->end <= interval.begin)
      ++taken;
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

// Sweep over intervals sorted by begin: `reached` is the end of the union so far, and each interval adds only its part
// beyond it. [0, 4), [2, 6), [9, 10) cover 7 and have a longest gap of 3.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <algorithm>

#include "base/saturating.h"

namespace opscope {

Union MeasureUnion(std::vector<Interval>* intervals) {
  std::sort(intervals->begin(), intervals->end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Union all;
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

}  // namespace opscope

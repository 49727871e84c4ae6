// SPDX-License-Identifier: Apache-2.0
#include "analysis/intervals.h"

#include <algorithm>

namespace opscope {

Union MeasureUnion(std::vector<Interval>* intervals) {
  std::sort(intervals->begin(), intervals->end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Union all;
  int64_t reached = 0;
  bool is_first = true;
  for (const Interval& interval : *intervals) {
    if (is_first || interval.begin > reached) {
      if (!is_first) all.longest_gap = std::max(all.longest_gap, interval.begin - reached);
      all.covered += interval.end - interval.begin;
      reached = interval.end;
    } else if (interval.end > reached) {
      all.covered += interval.end - reached;
      reached = interval.end;
    }
    is_first = false;
  }
  return all;
}

}  // namespace opscope

// Lengths of unions of time intervals, in nanoseconds.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace opscope {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;  // >= begin
};

struct Union {
  int64_t covered = 0;
  int64_t longest_gap = 0;  // between two covered parts
};

// Sorts `intervals` by begin. O(n log n).
[[nodiscard]] Union MeasureUnion(std::vector<Interval>* intervals);

}  // namespace opscope

// Sorts what consists of a few sorted runs, such as the spans of several tracks one behind the other: neighbouring runs
// are merged until one is left. O(n log r) for r runs, n comparisons if all is sorted already; stable.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace opscope {

template <typename T, typename Less>
void MergeSortedRuns(std::vector<T>* items, Less less) {
  std::vector<std::ptrdiff_t> ends;  // of the runs
  const auto begin = items->begin();
  for (auto at = begin; at != items->end();) {
    at = std::is_sorted_until(at, items->end(), less);
    ends.push_back(at - begin);
  }
  while (ends.size() > 1) {
    std::vector<std::ptrdiff_t> merged;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const std::ptrdiff_t first = i == 0 ? 0 : ends[i - 1];
      const std::ptrdiff_t last = ends[std::min(i + 1, ends.size() - 1)];
      std::inplace_merge(begin + first, begin + ends[i], begin + last, less);
      merged.push_back(last);
    }
    ends = std::move(merged);
  }
}

}  // namespace opscope

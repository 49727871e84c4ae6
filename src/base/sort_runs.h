// Sorts values that are concatenated sorted runs, such as the spans of several tracks: finds the runs and merges
// neighbours until one is left. Sorted input costs one comparison per value, k runs cost n log k.
//
//   SortRuns(&works, [](const Work& a, const Work& b) { return a.begin < b.begin; });
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace opscope {

// Stable. REQUIRES: is_before is a strict weak order.
template <typename T, typename IsBefore>
void SortRuns(std::vector<T>* values, const IsBefore& is_before) {
  std::vector<size_t> ends;  // of the runs
  for (size_t i = 1; i < values->size(); ++i)
    if (is_before((*values)[i], (*values)[i - 1])) ends.push_back(i);
  if (ends.empty()) return;
  ends.push_back(values->size());
  std::vector<T> merged;
  while (ends.size() > 1) {
    merged.clear();
    merged.reserve(values->size());
    std::vector<size_t> merged_ends;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t middle = ends[i], end = i + 1 < ends.size() ? ends[i + 1] : middle;
      const auto at = [&](size_t index) { return values->begin() + static_cast<std::ptrdiff_t>(index); };
      std::merge(at(begin), at(middle), at(middle), at(end), std::back_inserter(merged), is_before);
      merged_ends.push_back(end);
      begin = end;
    }
    values->swap(merged);
    ends = std::move(merged_ends);
  }
}

}  // namespace opscope

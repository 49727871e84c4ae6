// Sorts as Python's list.sort() does, even if some keys are NaN.
//
// NaN compares false with every number, so the result depends on which keys the algorithm compares. Bandwidths of
// profile_analyze are NaN where neither time nor bytes were measured, on a CPU every third operator, so only the same
// algorithm prints the same table. Without NaNs any stable sort gives the same result and is simpler.
//
// The algorithm is CPython's up to 3.10, described in Objects/listsort.txt. O(n log n).
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

struct SortedRow {
  double key = 0;
  uint32_t row = 0;
};

void TimSort(std::vector<SortedRow>* rows);

}  // namespace opscope

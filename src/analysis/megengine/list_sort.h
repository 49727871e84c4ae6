// The order in which Python's list.sort() leaves keys among which there are NaNs.
//
// NaN is not less than any number and no number is less than NaN, so that the order is the sort's own: which keys it
// compares. Bandwidths of profile_analyze are NaN where neither time nor bytes were measured, which on a CPU is every
// third operator; its tables are met in this order only. Without NaNs any stable sort gives the same and is simpler.
//
// The algorithm is CPython's up to 3.10, step by step (Objects/listsort.txt describes it): runs, short ones lengthened
// by binary insertion, merged so that their lengths stay balanced, galloping where one side keeps winning.
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

void SortAsPythonDoes(std::vector<SortedRow>* rows);

}  // namespace opscope

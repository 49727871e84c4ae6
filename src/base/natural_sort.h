// A stable natural merge sort: it begins with the runs that are in order already. Rows that several threads
// recorded are a handful of sorted runs, so this takes n log(runs) sequential steps where std::sort takes n
// log n random ones.
//
//   1 4 7 | 2 3 9 | 5 6     ->   1 2 3 4 7 9 | 5 6   ->   1 2 3 4 5 6 7 9
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/column.h"

namespace opscope {

template <typename T, typename Less>
void NaturalSort(Column<T>* rows, Less less) {
  std::vector<size_t> ends;  // of the runs
  for (size_t i = 1; i <= rows->size(); ++i) {
    if (i == rows->size() || less((*rows)[i], (*rows)[i - 1])) ends.push_back(i);
  }
  if (ends.size() < 2) return;
  Column<T> merged;
  merged.reserve(rows->size());
  merged.resize_unset(rows->size());
  while (ends.size() > 1) {
    size_t kept = 0, begin = 0;
    for (size_t run = 0; run < ends.size(); run += 2) {
      const size_t middle = ends[run], end = run + 1 < ends.size() ? ends[run + 1] : middle;
      std::merge(rows->data() + begin, rows->data() + middle, rows->data() + middle, rows->data() + end,
                 merged.data() + begin, less);
      ends[kept++] = begin = end;
    }
    ends.resize(kept);
    rows->swap(merged);
  }
}

}  // namespace opscope

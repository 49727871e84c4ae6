// A stable natural merge sort: it begins with the runs that are in order already, such as the spans of several tracks
// or the rows that several threads recorded. These are a handful of sorted runs, so it takes n log(runs) sequential
// steps where std::sort takes n log n random ones. Sorted input costs one comparison per row and no memory.
//
//   1 4 7 | 2 3 9 | 5 6     ->   1 2 3 4 7 9 | 5 6   ->   1 2 3 4 5 6 7 9
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace opscope {

// `Rows` is a Column<T>, or a std::vector<T> of a T that has a default constructor. Allocates as many rows again,
// unless they are sorted. REQUIRES: less is a strict weak order.
template <typename Rows, typename Less>
void NaturalSort(Rows* rows, Less less) {
  std::vector<size_t> ends;  // of the runs
  for (size_t i = 1; i < rows->size(); ++i)
    if (less((*rows)[i], (*rows)[i - 1])) ends.push_back(i);
  if (ends.empty()) return;
  ends.push_back(rows->size());
  Rows merged;
  if constexpr (requires { merged.resize_unset(rows->size()); }) {
    merged.reserve(rows->size());
    merged.resize_unset(rows->size());
  } else {
    merged.resize(rows->size());
  }
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

// Advice to put memory on huge pages. Filling fresh memory costs a fault per 4 KiB page otherwise, which takes longer
// than most of what is filled in (src/base/huge_block.h has the figures).
//
//   ReserveOnHugePages(&rows, count);
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace opscope {

inline constexpr size_t kHugePageBytes = size_t{1} << 21;

// reserve, with the whole huge pages of the new memory advised. Does nothing if the capacity suffices.
template <typename T>
void ReserveOnHugePages(std::vector<T>* values, size_t count) {
  if (count <= values->capacity()) return;
  values->reserve(count);
  const auto first = reinterpret_cast<uintptr_t>(values->data());
  const uintptr_t begin = (first + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const uintptr_t end = (first + values->capacity() * sizeof(T)) & ~(kHugePageBytes - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace opscope

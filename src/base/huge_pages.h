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

// As reserve. The vector's present values stay on their pages if it does not grow. What is smaller than a huge page
// stays as it is.
template <typename T>
void ReserveOnHugePages(std::vector<T>* values, size_t count) {
  if (count <= values->capacity()) return;
  values->reserve(count);
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const auto first = reinterpret_cast<uintptr_t>(values->data());
  const uintptr_t begin = (first + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (first + values->capacity() * sizeof(T)) & ~(kPage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace opscope

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

// For memory that is allocated and not yet filled. What is smaller than a huge page stays as it is.
inline void AdviseHugePages(void* memory, size_t bytes) {
  constexpr uintptr_t kPage = uintptr_t{1} << 21;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(memory) + bytes) & ~(kPage - 1);
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// As reserve. The vector's present values stay on their pages if it does not grow.
template <typename T>
void ReserveOnHugePages(std::vector<T>* values, size_t count) {
  if (count <= values->capacity()) return;
  values->reserve(count);
  AdviseHugePages(values->data(), values->capacity() * sizeof(T));
}

}  // namespace opscope

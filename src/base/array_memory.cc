// realloc for small arrays, mremap for those of 256 KiB and more. mremap moves page tables instead of
// bytes, so growing an array of a gigabyte copies nothing. malloc alone does the same at first, but once a
// block of up to 32 MiB was freed, glibc raises its threshold and takes such blocks from the heap, copies
// them as they grow, and keeps the holes.
// SPDX-License-Identifier: Apache-2.0
#include "base/array_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/huge_pages.h"

namespace opscope {
namespace {

constexpr size_t kLarge = size_t{256} << 10;
constexpr size_t kPage = 4096;

bool IsLarge(size_t bytes) {
  return bytes >= kLarge;
}
size_t WholePages(size_t bytes) {
  return (bytes + kPage - 1) & ~(kPage - 1);
}

}  // namespace

void* ReallocateArray(void* array, size_t old_bytes, size_t new_bytes) {
  if (!IsLarge(old_bytes) && !IsLarge(new_bytes)) return std::realloc(array, new_bytes);
  if (new_bytes > PTRDIFF_MAX) return nullptr;
  if (IsLarge(old_bytes) && IsLarge(new_bytes)) {
    void* moved = mremap(array, WholePages(old_bytes), WholePages(new_bytes), MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
  }
  void* other = nullptr;
  if (IsLarge(new_bytes)) {
    other = mmap(nullptr, WholePages(new_bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (other == MAP_FAILED) return nullptr;
  } else if ((other = std::malloc(new_bytes)) == nullptr) {
    return nullptr;
  }
  if (old_bytes > 0) std::memcpy(other, array, std::min(old_bytes, new_bytes));
  FreeArray(array, old_bytes);
  return other;
}

void FreeArray(void* array, size_t bytes) {
  if (IsLarge(bytes)) {
    munmap(array, WholePages(bytes));
  } else {
    std::free(array);
  }
}

// Advises the whole mapping. Advice for a part would split it in two, and mremap moves only one mapping.
void AdviseHugePages(void* array, size_t bytes) {
  if (WholePages(bytes) < kHugePageBytes) return;
  madvise(array, WholePages(bytes), MADV_HUGEPAGE);  // advice: a refusal changes nothing
}

}  // namespace opscope

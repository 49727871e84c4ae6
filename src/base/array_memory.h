// Memory of arrays that grow: from malloc while they are small, pages of their own when they are large. Those grow
// by moving page tables instead of bytes and go back to the system when they are freed, whereas malloc, once a large
// block was freed, takes blocks of up to 32 MB from its heap, copies them as they grow, and keeps the holes.
//
// Thread rule: any thread; one at a time for each array.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/allocation_failure.h"

namespace opscope {

// realloc for an array of `old_bytes` (nullptr and 0: none). Returns nullptr if there is no memory; the array is then
// unchanged. REQUIRES: new_bytes > 0.
[[nodiscard]] void* ReallocateArray(void* array, size_t old_bytes, size_t new_bytes);
void FreeArray(void* array, size_t bytes);

// For an array that will be filled as a whole, because page faults bound the filling of fresh memory. `bytes`: its
// current size. The advice also holds for later growth, which makes at most one huge page resident too early. Arrays
// smaller than a huge page are left as they are.
void AdviseHugePages(void* array, size_t bytes);

// An array without a type, for columns that are rewritten one after the other: each writes its new rows into the memory
// that the one before it left (Column::Exchange).
struct SpareArray {
  void* data = nullptr;
  size_t bytes = 0;

  SpareArray() = default;
  SpareArray(const SpareArray&) = delete;
  SpareArray& operator=(const SpareArray&) = delete;
  ~SpareArray() { FreeArray(data, bytes); }

  // The new content is undefined. Throws AllocationFailure. REQUIRES: new_bytes > 0.
  void Resize(size_t new_bytes) {
    void* resized = ReallocateArray(data, bytes, new_bytes);
    if (resized == nullptr) throw AllocationFailure(new_bytes);
    data = resized;
    bytes = new_bytes;
  }
};

}  // namespace opscope

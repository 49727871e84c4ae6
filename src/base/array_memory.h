// Memory of arrays that grow: from malloc while they are small, pages of their own when they are large. Those grow
// by moving page tables instead of bytes and go back to the system when they are freed, whereas malloc, once a large
// block was freed, takes blocks of up to 32 MB from its heap, copies them as they grow, and keeps the holes.
//
// Thread rule: any thread; one at a time for each array.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace opscope {

// As realloc, for an array that has `old_bytes` (nullptr and 0: none). nullptr: no memory, and the array is as it was.
[[nodiscard]] void* ReallocateArray(void* array, size_t old_bytes, size_t new_bytes);
void FreeArray(void* array, size_t bytes);

}  // namespace opscope

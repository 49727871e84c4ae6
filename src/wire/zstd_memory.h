// Distinguishes zstd's out-of-memory errors from damage. The same functions return both, but only damage
// may become a Problem of the Trace.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zstd_errors.h>

#include <cstddef>
#include <new>

namespace opscope {

// Throws std::bad_alloc if a zstd function returned an allocation failure. `size`: its result.
inline void ThrowIfOutOfMemory(size_t size) {
  const ZSTD_ErrorCode code = ZSTD_getErrorCode(size);
  if (code == ZSTD_error_memory_allocation || code == ZSTD_error_workSpace_tooSmall) throw std::bad_alloc();
}

}  // namespace opscope

// zstd says that memory is short by the same number as that its input is damaged; those two must not be
// taken for each other.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zstd_errors.h>

#include <cstddef>
#include <new>

namespace opscope {

// `size`: what a function of zstd returned.
inline void ThrowIfShortOfMemory(size_t size) {
  const ZSTD_ErrorCode code = ZSTD_getErrorCode(size);
  if (code == ZSTD_error_memory_allocation || code == ZSTD_error_workSpace_tooSmall) throw std::bad_alloc();
}

}  // namespace opscope

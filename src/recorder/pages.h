// Pages of the system: memory is mapped, files grow and advice is given by whole pages.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace opscope {

inline constexpr uint64_t kPageBytes = 4096;

// The last page boundary that is not above an offset or address.
inline constexpr uint64_t PageDown(uint64_t offset) {
  return offset & ~(kPageBytes - 1);
}
// The first page boundary that is not below it.
inline constexpr uint64_t PageUp(uint64_t offset) {
  return PageDown(offset + kPageBytes - 1);
}

}  // namespace opscope

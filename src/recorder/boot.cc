// The boot id is a UUID that the kernel draws at every boot. Equal ids mean equal clocks, which is what
// MergeTraces needs. Recordings carry a hash of it, since the UUID itself would identify the machine.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/boot.h"

#include "recorder/system_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace opscope {

uint64_t BootHash() {
  constexpr size_t kUuidBytes = 36;  // as text
  char buffer[kUuidBytes + 1];       // and the newline
  const std::string_view id = ReadSystemFile("/proc/sys/kernel/random/boot_id", buffer);
  return id.size() == kUuidBytes ? XXH3_64bits(id.data(), id.size()) : 0;
}

}  // namespace opscope

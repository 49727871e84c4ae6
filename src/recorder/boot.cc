// The boot id is a UUID that the kernel draws at every boot. Equal ids mean equal clocks, which is what
// MergeTraces needs. Recordings carry a hash of it, since the UUID itself would identify the machine.
// SPDX-License-Identifier: Apache-2.0
#include "recorder/boot.h"

#include <fcntl.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace opscope {

uint64_t BootHash() {
  constexpr ssize_t kIdSize = 36;  // a UUID as text; a newline follows
  char id[kIdSize];
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, id, sizeof(id));
  close(file);
  return size == kIdSize ? XXH3_64bits(id, sizeof(id)) : 0;
}

}  // namespace opscope

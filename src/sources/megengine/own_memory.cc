// The kernel copies the memory and returns EFAULT for an unmapped address: by process_vm_readv, or by a write into a
// pipe if a sandbox forbids process_vm_readv. A load would raise SIGSEGV, whose handler would conflict with the
// program's.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/own_memory.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace opscope::megengine {

OwnMemory::~OwnMemory() {
  for (const int end : pipe_) {
    if (end >= 0) close(end);
  }
}

bool OwnMemory::Read(const void* from, void* to, size_t bytes) {
  if (way_ == Way::kByKernel) {
    const iovec local{to, bytes}, remote{const_cast<void*>(from), bytes};
    const ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (got >= 0) return static_cast<size_t>(got) == bytes;
    if (errno == EFAULT) return false;
    way_ = Way::kByPipe;
  }
  return ReadByPipe(from, to, bytes);
}

// Calls the kernel directly: a sanitizer's write() would read the memory first.
bool OwnMemory::ReadByPipe(const void* from, void* to, size_t bytes) {
  if (pipe_[0] < 0 && pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const ssize_t written = syscall(SYS_write, pipe_[1], from, bytes);
  if (written <= 0) return false;
  const ssize_t got = read(pipe_[0], to, static_cast<size_t>(written));
  return got == written && static_cast<size_t>(got) == bytes;
}

}  // namespace opscope::megengine

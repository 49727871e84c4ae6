// Keeps our file descriptors off the standard streams. A program that has closed its standard output gets
// number 1 from the next open; whatever it then prints would go into our file.
//
// Thread rule: any thread; safe in signal handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace opscope {

// Moves a descriptor above 2 if necessary. Accepts -1. Returns the descriptor; -1: errno says why.
[[nodiscard]] inline int MoveAboveStderr(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

}  // namespace opscope

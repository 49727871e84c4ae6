// Descriptors of files that we open. Where the program has closed its standard streams the system gives their numbers
// out again, and what the program, or anyone in it, then prints would go into our file.
//
// Thread rule: any thread; safe in signal handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace opscope {

// What an open gave, which may be -1, under a number that is none of a standard stream's. -1: errno says why.
[[nodiscard]] inline int AboveStandardStreams(int descriptor) {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  close(descriptor);
  errno = error;
  return moved;
}

}  // namespace opscope

// Reads a small file of /proc or /sys, which has one line.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

#include "base/descriptor.h"

namespace opscope {

// The line without its newline, in `buffer`; what does not fit there is cut. "": the file cannot be read.
template <size_t kBytes>
std::string_view ReadSystemFile(const char* path, char (&buffer)[kBytes]) {
  const UniqueDescriptor file(MoveAboveStderr(open(path, O_RDONLY | O_CLOEXEC)));
  const ssize_t size = file.get() < 0 ? -1 : read(file.get(), buffer, kBytes);
  std::string_view line(buffer, size < 0 ? 0 : static_cast<size_t>(size));
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

}  // namespace opscope

// File descriptors: a class that closes its descriptor, and a function that keeps descriptors off the standard streams.
// A program that has closed its standard output gets number 1 from the next open, and would print into our file.
//
//   const UniqueDescriptor file(MoveAboveStderr(open(path, O_RDONLY | O_CLOEXEC)));
//
// Thread rule: MoveAboveStderr from any thread, also in signal handlers; a UniqueDescriptor one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace opscope {

// Owns a descriptor and closes it. Negative: it has none.
class UniqueDescriptor {
 public:
  UniqueDescriptor() = default;
  explicit UniqueDescriptor(int descriptor) : descriptor_(descriptor) {}
  UniqueDescriptor(UniqueDescriptor&& other) noexcept : descriptor_(other.Release()) {}
  UniqueDescriptor& operator=(UniqueDescriptor&& other) noexcept {
    UniqueDescriptor(std::move(other)).Swap(this);
    return *this;
  }
  ~UniqueDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  int get() const { return descriptor_; }
  // The caller closes it.
  [[nodiscard]] int Release() { return std::exchange(descriptor_, -1); }

 private:
  void Swap(UniqueDescriptor* other) { std::swap(descriptor_, other->descriptor_); }

  int descriptor_ = -1;
};

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

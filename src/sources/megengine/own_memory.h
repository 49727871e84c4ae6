// Reads memory of this process that may not be mapped: unmapped memory gives an error, not a signal.
//
// Thread rule: one thread at a time per object.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace opscope::megengine {

class OwnMemory {
 public:
  // kByKernel: process_vm_readv, a pipe where that is refused (containers forbid it).
  enum class Way { kByKernel, kByPipe };
  explicit OwnMemory(Way way = Way::kByKernel) : way_(way) {}
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  // False: not all of it can be read. bytes: at most 4096.
  bool Read(const void* from, void* to, size_t bytes);
  template <typename T>
  bool Read(const void* from, T* to) {
    return Read(from, to, sizeof(T));
  }

 private:
  bool ReadByPipe(const void* from, void* to, size_t bytes);

  Way way_;
  int pipe_[2] = {-1, -1};
};

}  // namespace opscope::megengine

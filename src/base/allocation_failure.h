// std::bad_alloc with the size of the failed request. Code that gets memory from the system directly (growing arrays,
// blocks of tables) throws it, because large requests are the ones that fail.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <new>

namespace opscope {

class AllocationFailure : public std::bad_alloc {
 public:
  explicit AllocationFailure(size_t bytes) noexcept {
    std::snprintf(text_, sizeof(text_), "out of memory: %zu bytes were requested", bytes);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[64];  // here: there is no memory for a text
};

}  // namespace opscope

// CUPTI's clock told in the trace's time: piecewise linear between the moments at which both were read, at their rate
// of the last pair beyond. Both count nanoseconds, and differ by what the system's clock was corrected.
//
// Thread rule: Add by one thread, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "opscope/types.h"

namespace opscope {

class CudaClock {
 public:
  void Add(uint64_t cupti_ns, Timestamp time);
  // After all were added, in any order; pairs that contradict those before are left out.
  void Order();
  bool empty() const { return pairs_.empty(); }
  // REQUIRES: ordered, and not empty.
  Timestamp At(uint64_t cupti_ns) const;

 private:
  struct Pair {
    uint64_t cupti_ns = 0;
    Timestamp time;
    double excess = 0;  // by how much the trace's time goes faster from here to the next
  };
  std::vector<Pair> pairs_;
  mutable size_t current_ = 0;
};

}  // namespace opscope

// Converts times of CUPTI's clock to the trace's: piecewise linear between the readings of both clocks, beyond the last
// reading at the rate of the last pair. Both count nanoseconds, and differ by what the system's clock was corrected.
//
// Thread rule: Add by one thread, then immutable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/saturating.h"
#include "opscope/types.h"

namespace opscope {

class CudaClock {
 public:
  // bound: how far apart the two readings may have been.
  void Add(uint64_t cupti_ns, Timestamp time, Duration bound);
  // After all were added, in any order. Pairs that contradict those before are left out, and those of readings that
  // were interrupted where there are better ones.
  void Order();
  // The worst of those that are left.
  Duration bound() const { return bound_; }
  bool empty() const { return pairs_.empty(); }
  // REQUIRES: ordered, and not empty.
  Timestamp At(uint64_t cupti_ns) const;

 private:
  struct Pair {
    uint64_t cupti_ns = 0;
    Timestamp time;
    Duration bound;
    double excess = 0;  // by how much the trace's time goes faster from here to the next
  };
  std::vector<Pair> pairs_;
  Duration bound_;
  mutable size_t current_ = 0;
};

inline Timestamp CudaClock::At(uint64_t cupti_ns) const {
  while (current_ + 1 < pairs_.size() && cupti_ns >= pairs_[current_ + 1].cupti_ns)
    ++current_;
  while (current_ > 0 && cupti_ns < pairs_[current_].cupti_ns)
    --current_;
  const Pair& pair = pairs_[current_];
  const auto distance = static_cast<int64_t>(cupti_ns - pair.cupti_ns);
  const int64_t excess = ClampToInt64(static_cast<double>(distance) * pair.excess);
  return {static_cast<int64_t>(static_cast<uint64_t>(pair.time.ns) + static_cast<uint64_t>(distance) +
                               static_cast<uint64_t>(excess))};
}

}  // namespace opscope

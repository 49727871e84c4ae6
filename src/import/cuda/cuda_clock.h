// Converts times of CUPTI's clock to the trace's: piecewise linear between the readings of both clocks, beyond the last
// reading at the rate of the last pair. Both count nanoseconds; they drift apart when the
// system corrects its clock.
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
  // bound: the most time between the two readings.
  void Add(uint64_t cupti_ns, Timestamp time, Duration bound);
  // Call this after the last Add. Drops pairs that contradict earlier ones, and pairs whose bound shows an interrupted
  // reading, if there are better ones.
  void Order();
  // The largest bound of the remaining pairs.
  Duration bound() const { return bound_; }
  bool empty() const { return pairs_.empty(); }
  // REQUIRES: Order was called, and the clock is not empty.
  Timestamp At(uint64_t cupti_ns) const;

 private:
  struct Pair {
    uint64_t cupti_ns = 0;
    Timestamp time;
    Duration bound;
    double excess = 0;  // rate of the trace's clock until the next pair, minus 1
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

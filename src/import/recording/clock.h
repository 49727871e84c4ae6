// Converts the recorder's ticks to nanoseconds: piecewise linear between calibrations, extrapolated beyond the first
// and the last. Nanoseconds count from the first calibration, whose unix time is the epoch.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/record.h"
#include "opscope/types.h"

namespace opscope {

class TickClock {
 public:
  // Calibrations may be in any order; those that contradict earlier ones are dropped. epoch_ns: unix time to count
  // from; 0: that of the first calibration. rate: for a single calibration, a number of ticks and their nanoseconds;
  // {}: unknown, one tick is then one nanosecond.
  explicit TickClock(std::vector<Calibration> calibrations, int64_t epoch_ns = 0, const Calibration& rate = {});

  Timestamp At(uint64_t ticks) const {
    while (current_ + 1 < pieces_.size() && ticks >= pieces_[current_ + 1].ticks)
      ++current_;
    while (current_ > 0 && ticks < pieces_[current_].ticks)
      --current_;
    const Piece& piece = pieces_[current_];
    const auto distance = static_cast<__int128>(static_cast<int64_t>(ticks - piece.ticks));
    const auto ns = static_cast<uint64_t>(static_cast<int64_t>((distance * piece.rate) >> 32));
    return {static_cast<int64_t>(static_cast<uint64_t>(piece.ns) + ns)};
  }

  // The first tick that is not before this time. If a tick is shorter than a nanosecond, At returns the same time.
  uint64_t TicksAt(Timestamp time) const;

  int64_t epoch_ns() const { return epoch_ns_; }

 private:
  struct Piece {
    uint64_t ticks;
    int64_t ns;    // since the epoch
    int64_t rate;  // nanoseconds per tick, times 2^32, rounded down so that pieces never overlap
  };
  std::vector<Piece> pieces_;
  int64_t epoch_ns_ = 0;
  mutable size_t current_ = 0;  // the last piece used: times are nearly sorted
};

}  // namespace opscope

// Finds in which span of its thread each allocation or free happened.
//
// Thread rule: pure functions of an immutable Trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// The rows of `allocations` by thread, those of a thread in order of time, those of equal time in the order of rows.
class AllocationsByTrack {
 public:
  // O(n); O(n log n) if times fall.
  explicit AllocationsByTrack(const Trace& trace);

  // Empty for tracks without allocations.
  std::span<const uint32_t> Of(uint32_t track) const {
    return std::span(rows_).subspan(first_[track], first_[track + 1] - first_[track]);
  }

 private:
  std::vector<uint32_t> first_;  // by track, and one more
  std::vector<uint32_t> rows_;
};

// For each row of `allocations` the name of the innermost host span that is open at its time: of those with
// begin <= time < end, the one that begins last; of those that begin together, the later row. kNone: no span is open.
std::vector<StringId> OperatorsOfAllocations(const Trace& trace, const AllocationsByTrack& by_track);

// For each row of `allocations` 1 if a nested span of its thread is open at its time for which `selected` has 1.
std::vector<uint8_t> SelectAllocations(const Trace& trace, const AllocationsByTrack& by_track,
                                       const std::vector<uint8_t>& selected);

}  // namespace opscope

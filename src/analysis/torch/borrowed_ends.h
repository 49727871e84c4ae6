// When ranges end, in torch's list of events, that nobody has ended: with the first span around them that ends, else
// with the recording. Torch counts no time of theirs as their own, so they are no parents either.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct BorrowedEnd {
  uint32_t span = 0;
  int64_t end = 0;
  bool is_of_another = false;  // else the recording's
};

// Of the unfinished spans of a track, by span. O(rows of the track) when all but a few are open at a time.
std::vector<BorrowedEnd> BorrowedEnds(const Trace& trace, uint32_t track);

}  // namespace opscope

// The ends that torch's event list gives to unfinished ranges: the end of the first enclosing span that ends, else the
// end of the recording. Such a range has no self time in torch and is no parent of other events.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

struct InheritedEnd {
  uint32_t span = 0;
  int64_t end = 0;
  bool is_of_another = false;  // false: the recording's end
};

// The unfinished spans of a track, by row. O(rows of the track * log depth).
std::vector<InheritedEnd> InheritedEnds(const Trace& trace, uint32_t track);

}  // namespace opscope

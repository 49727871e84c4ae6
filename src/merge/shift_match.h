// Matches two lists of sync points by their order: one is shifted against the other until labels and gaps agree.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "merge/group_match.h"
#include "merge/sync_points.h"

namespace opscope {

// Points by time. `uses_numbers`: points with different numbers are not the same. O(n * m) for n and m points.
[[nodiscard]] GroupMatch MatchByShift(const std::vector<SyncPoint>& reference, const std::vector<SyncPoint>& own,
                                      const ClockBelief& belief, bool uses_numbers);

}  // namespace opscope

// Matches two lists of sync points by the program's own numbers (Collective::number), so points that one list lacks do
// not matter.
//
// Thread rule: pure function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "merge/group_match.h"
#include "merge/sync_points.h"

namespace opscope {

// Points by time. nullopt: the numbers do not count, because some points have none, or because equal numbers have
// different labels, or because neither numbers nor gaps agree. kNothingShared: the two have no number in common.
// O(n log n) in all points, for each time that the numbers begin again.
[[nodiscard]] std::optional<GroupMatch> MatchByNumber(const std::vector<SyncPoint>& reference,
                                                      const std::vector<SyncPoint>& own, const ClockBelief& belief);

}  // namespace opscope

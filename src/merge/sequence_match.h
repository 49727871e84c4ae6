// Finds which sync points of two ranks are the same moments, over all groups that both are in.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "merge/clock_fit.h"
#include "merge/group_match.h"
#include "merge/sync_points.h"

namespace opscope {

struct SequenceMatch {
  MatchOutcome outcome = MatchOutcome::kNothingShared;
  std::vector<ClockPair> pairs;  // kMatched: in no order
  // Number of reference points before the first and after the last point of `own`.
  uint64_t before = 0;
  uint64_t after = 0;
  std::set<std::string> numbered;  // groups in which points with different numbers are not the same
};

// Points of each group by time. O(n * m) for n and m points of a group without numbers.
[[nodiscard]] SequenceMatch MatchSequences(const SyncPoints& reference, const SyncPoints& own,
                                           const ClockBelief& belief);

// Pairs of equal labels that lie within `tolerance_ns` of each other under `map`. Also finds pairs behind a gap in one
// of the recordings, which one shift cannot. In the groups `numbered` the numbers are equal, too. O(n log n) in all
// points.
[[nodiscard]] std::vector<ClockPair> PairsNear(const SyncPoints& reference, const SyncPoints& own, const ClockMap& map,
                                               int64_t tolerance_ns, const std::set<std::string>& numbered = {});

}  // namespace opscope

// Which sync points of two ranks are the same moments. Ranks may begin to record at different collectives and may lack
// some, so the sequences are shifted against each other until kinds and gaps agree.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "merge/clock_fit.h"
#include "merge/sync_points.h"

namespace opscope {

enum class MatchOutcome : uint8_t {
  kMatched,
  kNothingShared,  // no group with sync points on both sides
  kOtherTime,      // the clocks say that the two were not recorded together
  kContradicts,    // the kinds of operations do not agree
  kDoesNotFit,     // the kinds agree, the gaps between them do not
};

struct SequenceMatch {
  MatchOutcome outcome = MatchOutcome::kNothingShared;
  std::vector<ClockPair> pairs;  // kMatched: in no order
  // Points of the reference before the first and after the last of `own`, by count.
  uint64_t before = 0;
  uint64_t after = 0;
};

// max_difference_ns: how far the two clocks may be apart; nullopt: they have nothing in common.
[[nodiscard]] SequenceMatch MatchSequences(const SyncPoints& reference, const SyncPoints& own,
                                           std::optional<int64_t> max_difference_ns);

// The points that lie where `map` puts them, within `tolerance_ns`: finds those that a shift does not, after a hole.
[[nodiscard]] std::vector<ClockPair> PairsNear(const SyncPoints& reference, const SyncPoints& own, const ClockMap& map,
                                               int64_t tolerance_ns);

}  // namespace opscope

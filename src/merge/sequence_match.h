// Finds which sync points of two ranks are the same moments. Ranks may begin to record at different collectives and may
// lack some, so their sequences are shifted against each other until labels and gaps agree.
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
  // Number of reference points before the first and after the last point of `own`.
  uint64_t before = 0;
  uint64_t after = 0;
};

// max_difference_ns: largest accepted difference of the two clocks; nullopt if the clocks are not comparable. O(n * m)
// for n and m points of a group.
[[nodiscard]] SequenceMatch MatchSequences(const SyncPoints& reference, const SyncPoints& own,
                                           std::optional<int64_t> max_difference_ns);

// Pairs of equal labels that lie within `tolerance_ns` of each other under `map`. Also finds pairs behind a gap in one
// of the recordings, which one shift cannot. O(n log n) in all points.
[[nodiscard]] std::vector<ClockPair> PairsNear(const SyncPoints& reference, const SyncPoints& own, const ClockMap& map,
                                               int64_t tolerance_ns);

}  // namespace opscope

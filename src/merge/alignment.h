// Expresses the clock of each member of a job in terms of one member's clock. Members of one machine and boot have one
// clock.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merge/clock_fit.h"
#include "merge/machine.h"
#include "merge/sync_points.h"
#include "opscope/merge.h"

namespace opscope {

// One clock: a rank with all its files, or one file without a rank. Times are nanoseconds; unix time if has_wall_clock.
struct ClockMember {
  SyncPoints points;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  bool has_wall_clock = false;
  Machine machine;
};

struct MemberClock {
  ClockSource source = ClockSource::kNone;
  ClockMap map;  // own time -> the reference's
  uint64_t sync_points = 0;
  int64_t residual_p50_ns = 0;
  int64_t residual_p99_ns = 0;
  std::string doubt;           // why the collectives were not used; empty: they were, or there are none
  bool is_stranger = false;    // it belongs to another job, for the reason in `doubt`
  std::string contradiction;   // evidence against the shared wall clock; empty: none
  int64_t wall_bound_ns = -1;  // measured accuracy of the shared wall clock; -1: not measured
  std::optional<RefusedFit> refused;
  // Sync points of the reference, in groups that both have, before this member's first event and after its last.
  uint64_t missed_before = 0;
  uint64_t missed_after = 0;
};

struct Alignment {
  size_t reference = 0;
  std::vector<MemberClock> clocks;  // one per member
};

// Times further apart than max_difference_ns by their wall clocks are not the same collective. O(pairs of members)
// matches. REQUIRES: members is not empty.
// With kAnyDifference the members belong to one job, however much their clocks differ: no member is a stranger.
inline constexpr int64_t kAnyDifference = INT64_MAX;
[[nodiscard]] Alignment AlignClocks(std::span<const ClockMember> members, int64_t max_difference_ns);

}  // namespace opscope

// The clock of each member of a job in terms of one of them. Members of one machine and boot have one clock.
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

// One clock: a rank (with all its files), or one file of no rank. Times are unix time where it has a wall clock.
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
  std::string doubt;          // why it is not kCollectives though there are collectives; empty: nothing to say
  bool is_stranger = false;   // `doubt` says that it is of another job
  std::string contradiction;  // what speaks against the wall clock that its machine shares; empty: nothing
  int64_t wall_bound_ns = -1;
  std::optional<RefusedFit> refused;
  // Sync points of the reference (of the groups it has) before its first event and after its last.
  uint64_t missed_before = 0;
  uint64_t missed_after = 0;
};

struct Alignment {
  size_t reference = 0;
  std::vector<MemberClock> clocks;  // one per member
};

// REQUIRES: members is not empty.
[[nodiscard]] Alignment AlignClocks(std::span<const ClockMember> members, int64_t max_difference_ns);

}  // namespace opscope
